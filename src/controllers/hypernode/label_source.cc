// HyperNodes from the labels of nodes: each value of a label is a part of the network.
#include <algorithm>
#include <set>

#include "api/meta/resource.h"
#include "base/format.h"
#include "base/random.h"
#include "controllers/hypernode/discovery.h"

namespace controllers::hypernode {

using api::Json;

namespace {

constexpr int kAttemptsMax = 20;
// Without vowels and what looks alike, as in names that Kubernetes makes.
constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";

std::string cleaned(std::string_view type) {
  std::string out;
  for (const char c : type) {
    if (c >= 'A' && c <= 'Z')
      out += static_cast<char>(c - 'A' + 'a');
    else
      out += (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' ? c : '-';
  }
  return out;
}

// FNV-1a; only has to be the same everywhere.
std::uint64_t number_of(std::string_view text) {
  std::uint64_t hash = 14'695'981'039'346'656'037ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1'099'511'628'211ULL;
  return hash;
}

bool has_label(const Json& object, const std::string& label) { return object["metadata"]["labels"].has(label); }

// Names that HyperNodes have, or get in this discovery.
class Names {
 public:
  explicit Names(const std::vector<const Json*>& taken) {
    for (const Json* one : taken) {
      taken_.emplace(api::name_of(*one), one);
      if (api::label_of(*one, kSourceLabel) == "label") ours_.push_back(one);
    }
    std::ranges::sort(ours_, {}, [](const Json* one) { return api::name_of(*one); });
  }

  // Empty if no name is free.
  std::string of(std::string_view type, std::int64_t tier, const std::string& label, const std::string& value) {
    const std::string prefix = base::format("hypernode-{}-tier{}-", cleaned(type), tier);
    for (const Json* one : ours_)
      if (has_label(*one, label) && api::label_of(*one, label) == value && api::name_of(*one).starts_with(prefix) &&
          given_.insert(std::string(api::name_of(*one))).second)
        return std::string(api::name_of(*one));
    for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
      base::Random dice(number_of(base::format("{} {} {} {} {}", type, tier, label, value, attempt)));
      std::string name = prefix + dice.text(5, kAlphabet);
      if (!taken_.contains(name) && given_.insert(name).second) return name;
    }
    return {};
  }

 private:
  std::map<std::string_view, const Json*> taken_;
  std::vector<const Json*> ours_;
  std::set<std::string> given_;
};

// One part of the network: a label with its value.
struct Part {
  std::string name;
  std::set<std::string> members;
};

void discover_type(const TopologyType& type, const std::vector<const Json*>& nodes, Names& names,
                   std::vector<Found>& found) {
  // The last entry stands for the node itself; the one before it is tier 1.
  std::vector<std::string> labels(type.node_labels.rbegin() + 1, type.node_labels.rend());
  std::vector<std::map<std::string, Part>> tiers(labels.size());
  for (const Json* node : nodes) {
    std::string below(api::name_of(*node));
    for (std::size_t tier = 0; tier < labels.size(); ++tier) {
      if (!has_label(*node, labels[tier])) break;
      const std::string value(api::label_of(*node, labels[tier]));  // may be empty, as in Volcano
      Part& part = tiers[tier][value];
      if (part.name.empty()) part.name = names.of(type.name, static_cast<std::int64_t>(tier) + 1, labels[tier], value);
      if (part.name.empty()) break;
      part.members.insert(below);
      below = part.name;
    }
  }
  for (std::size_t tier = 0; tier < tiers.size(); ++tier)
    for (auto& [value, part] : tiers[tier])
      if (!part.name.empty())
        found.push_back({.name = part.name,
                         .tier = static_cast<std::int64_t>(tier) + 1,
                         .tier_name = labels[tier],
                         .labels = {{labels[tier], value}},
                         .members = {part.members.begin(), part.members.end()}});
}

}  // namespace

std::vector<Found> discover_by_label(const std::vector<TopologyType>& types, const std::vector<const Json*>& nodes,
                                     const std::vector<const Json*>& taken) {
  Names names(taken);
  std::vector<Found> found;
  for (const TopologyType& type : types) discover_type(type, nodes, names, found);
  return found;
}

Json to_object(const Found& found, std::string_view source) {
  Json labels = Json::object({{std::string(kSourceLabel), source}});
  for (const auto& [key, value] : found.labels) labels.set(key, value);
  Json members = Json::array();
  for (const std::string& member : found.members)
    members.push_back(Json::object({{"selector", Json::object({{"exactMatch", Json::object({{"name", member}})}})},
                                    {"type", found.tier == 1 ? "Node" : "HyperNode"}}));
  Json spec = Json::object({{"members", std::move(members)}, {"tier", found.tier}});
  if (!found.tier_name.empty()) spec.set("tierName", found.tier_name);
  return Json::object({{"apiVersion", "topology.volcano.sh/v1alpha1"},
                       {"kind", "HyperNode"},
                       {"metadata", Json::object({{"labels", std::move(labels)}, {"name", found.name}})},
                       {"spec", std::move(spec)}});
}

}  // namespace controllers::hypernode
