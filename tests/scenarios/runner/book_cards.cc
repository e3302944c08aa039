// Which cards of a node does the specification (5.16.3, 5.16.4) give to a pod?
#include "book_cards.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>

namespace scenario::book {

// ---- 5.16.3: cards shared by memory, or given whole

bool choose_shared_gpus(bool by_memory, const Node& node, const Pod& pod, const std::vector<const Pod*>& others,
                        Given& given) {
  const double wanted = pod.wants(by_memory ? "volcano.sh/gpu-memory" : "volcano.sh/gpu-number");
  const int cards = static_cast<int>(node.all["volcano.sh/gpu-number"] / 1000);
  if (wanted == 0 || cards == 0) return true;
  const double each = std::floor(node.all["volcano.sh/gpu-memory"] / 1000 / cards);
  const std::vector<std::string> bad = split(node.annotation("volcano.sh/gpu-unhealthy-ids"), ',');
  for (int card = 0; card < cards; ++card) {
    if (std::find(bad.begin(), bad.end(), std::to_string(card)) != bad.end()) continue;
    double used = 0;
    int users = 0;
    for (const Pod* other : others) {
      if (!other->given.shared_gpus.contains(card)) continue;
      used += other->wants("volcano.sh/gpu-memory"), ++users;
    }
    if (by_memory ? each - used < wanted : users > 0) continue;
    given.shared_gpus.insert(card);
    if (by_memory || static_cast<double>(given.shared_gpus.size()) == wanted) return true;
  }
  return false;
}

// ---- 5.16.4: HAMi's vGPUs

namespace {

// The pieces of a card: groups of instances, those of a group by their memory.
struct Instance {
  double memory = 0;  // in the devices' own units
  std::string name;   // "g1-0"
};
using Cuts = std::vector<std::pair<std::string, std::vector<Instance>>>;

struct Card {
  std::string id, type;
  std::size_t index = 0;
  double sharers = 0, all = 0;  // what it has
  bool is_healthy = true;
  std::vector<std::pair<const Pod*, const CardPart*>> parts;
  Cuts cuts;  // nothing of it is cut if there are none

  double users() const { return static_cast<double>(parts.size()); }
  double sum(double CardPart::*amount) const {
    double out = 0;
    for (const auto& [pod, part] : parts) out += part->*amount;
    return out;
  }
};

struct Request {
  double count = 0, memory = 0, percentage = 0, cores = 0;
};

Request request_of(const Objects& objects, const Pod& pod) {
  const Line& names = objects.device_config();
  Request out;
  out.count = pod.wants(names.get("count", "volcano.sh/vgpu-number"));
  out.memory = pod.wants(names.get("memory", "volcano.sh/vgpu-memory"));
  out.cores = pod.wants(names.get("cores", "volcano.sh/vgpu-cores"));
  if (const std::string* percentage = names.find("percentage")) out.percentage = pod.wants(*percentage);
  if (out.count == 0 && out.memory > 0) out.count = 1;
  if (out.memory == 0 && out.percentage == 0) out.percentage = 100;
  return out;
}

Cuts cuts_of(const Line& config, const Line& card) {
  Cuts out;
  if (card.get("mode") != "mig") return out;
  for (const Line& model : items_of(config.get("mig"))) {
    if (card.get("type", "NVIDIA-A100").find(model.name) == std::string::npos) continue;
    for (const auto& [words, unused] : model.fields) {
      for (const Line& group : items_of(words)) {
        std::vector<Instance> instances;
        for (const auto& [kind, nothing] : group.fields) {  // NAME:MEMORY:COUNT
          const std::vector<std::string> parts = split(kind, ':');
          for (int i = 0; i < std::atoi(parts[2].c_str()); ++i)
            instances.push_back({std::atof(parts[1].c_str()), group.name + "-" + std::to_string(instances.size())});
        }
        std::stable_sort(instances.begin(), instances.end(),
                         [](const Instance& a, const Instance& b) { return a.memory < b.memory; });
        out.emplace_back(group.name, std::move(instances));
      }
    }
    break;
  }
  return out;
}

std::vector<Card> cards_of(const Line& config, const Node& node, const std::vector<const Pod*>& others) {
  std::vector<Card> out;
  for (const Line& words : items_of(node.words.get("vgpus"))) {
    Card card{.id = words.name, .type = words.get("type", "NVIDIA-A100"), .index = out.size(), .parts = {}, .cuts = {}};
    card.sharers = number_of(words, "count", 10);
    card.all = number_of(words, "memory", 8000);
    card.is_healthy = words.find("unhealthy") == nullptr;
    card.cuts = cuts_of(config, words);
    for (const Pod* other : others) {
      for (const CardPart& part : other->given.cards) {
        if (part.card == card.id) card.parts.emplace_back(other, &part);
      }
    }
    out.push_back(card);
  }
  return out;
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

bool is_allowed(const Card& card, const Pod& pod) {
  const std::string use = pod.annotation("volcano.sh/vgpu-use-gpuuuid"),
                    avoid = pod.annotation("volcano.sh/vgpu-nouse-gpuuuid"),
                    type = pod.annotation("nvidia.com/use-gputype"),
                    no_type = pod.annotation("nvidia.com/nouse-gputype");
  if (!use.empty() && use != card.id) return false;
  if (!avoid.empty() && avoid == card.id) return false;
  if (card.type.find("NVIDIA") == std::string::npos) return false;
  if (!type.empty()) return lower(card.type).find(lower(type)) != std::string::npos;
  return no_type.empty() || lower(card.type).find(lower(no_type)) == std::string::npos;
}

// The numbers of the rules whose labels the pod carries.
std::set<std::size_t> rules_of(const Objects& objects, const Pod& pod) {
  std::set<std::size_t> out;
  const auto& arguments = objects.plugin("deviceshare")->arguments;
  const auto found = arguments.find("deviceshare.GPUExclusiveRules");
  if (found == arguments.end()) return out;
  std::string text = found->second;
  std::replace(text.begin(), text.end(), '\'', '"');
  const auto rules = api::parse_json(text);
  for (std::size_t i = 0; rules.ok() && i < rules->size(); ++i) {
    const auto members = (*rules)[i].members();
    if (std::all_of(members.begin(), members.end(),
                    [&](const auto& label) { return pod.label(std::string(label.name())) == label.value.str(); }))
      out.insert(i);
  }
  return out;
}

bool is_kept_apart(const Objects& objects, const Card& card, const Pod& pod) {
  const bool spread = pod.annotation("volcano.sh/vgpu-podgroup-policy") == "spread";
  const std::set<std::size_t> rules = rules_of(objects, pod);
  return std::any_of(card.parts.begin(), card.parts.end(), [&](const auto& part) {
    if (spread && part.first->group == pod.group) return true;
    const std::set<std::size_t> theirs = rules_of(objects, *part.first);
    return card.cuts.empty() &&
           std::any_of(rules.begin(), rules.end(), [&](std::size_t rule) { return theirs.contains(rule); });
  });
}

// The instance that the card gives: of the group in use, else of the first that has one.
const Instance* instance_for(const Card& card, double memory) {
  const auto is_used = [&](const Instance& one) {
    return std::any_of(card.parts.begin(), card.parts.end(),
                       [&](const auto& part) { return part.second->instance == one.name; });
  };
  const auto in_use = std::find_if(card.cuts.begin(), card.cuts.end(), [&](const auto& group) {
    return std::any_of(group.second.begin(), group.second.end(), is_used);
  });
  for (auto group = card.cuts.begin(); group != card.cuts.end(); ++group) {
    if (in_use != card.cuts.end() && group != in_use) continue;
    for (const Instance& one : group->second) {
      if (one.memory >= memory && !is_used(one)) return &one;
    }
  }
  return nullptr;
}

// The parts that the card would give, or none.
std::vector<CardPart> part_of(const Objects& objects, const Card& card, const Pod& pod, const Request& request) {
  const double factor = std::max(1.0, number_of(objects.device_config(), "factor", 1));
  const double wanted = request.percentage > 0 ? std::floor(card.all * request.percentage / 100) : request.memory;
  const double used_cores = card.sum(&CardPart::cores);
  if (!card.is_healthy || !is_allowed(card, pod) || card.users() >= card.sharers) return {};
  if (is_kept_apart(objects, card, pod)) return {};
  if (card.all - card.sum(&CardPart::memory) < wanted || used_cores + request.cores > 100) return {};
  if ((request.cores == 100 && card.users() > 0) || (used_cores == 100 && request.cores == 0)) return {};
  if (card.cuts.empty()) return {{card.id, wanted, request.cores}};
  const Instance* instance = instance_for(card, wanted * factor);
  if (instance == nullptr) return {};
  return {{card.id, std::floor(instance->memory / factor), request.cores, instance->name}};
}

}  // namespace

bool wants_vgpus(const Objects& objects, const Pod& pod) { return request_of(objects, pod).count > 0; }

bool choose_vgpus(const Objects& objects, const Node& node, const Pod& pod, const std::vector<const Pod*>& others,
                  Given& given, double& score) {
  const Line& config = objects.device_config();
  const Request request = request_of(objects, pod);
  std::vector<Card> cards = cards_of(config, node, others);
  const bool has_amounts = node.all[config.get("count", "volcano.sh/vgpu-number")] > 0 &&
                           node.all[config.get("memory", "volcano.sh/vgpu-memory")] > 0 &&
                           node.all[config.get("cores", "volcano.sh/vgpu-cores")] > 0;
  if (request.count == 0 || cards.empty() || !has_amounts) return true;
  const std::string mode = pod.annotation("volcano.sh/vgpu-mode");
  if (!mode.empty() && mode != (cards.front().cuts.empty() ? "hami-core" : "mig")) return false;
  if (request.count > static_cast<double>(cards.size())) return false;
  const auto argument = objects.plugin("deviceshare")->arguments.find("deviceshare.SchedulePolicy");
  const std::string policy = argument == objects.plugin("deviceshare")->arguments.end() ? "" : argument->second;
  std::sort(cards.begin(), cards.end(), [&](const Card& a, const Card& b) {
    const double a_used = a.sum(&CardPart::memory), b_used = b.sum(&CardPart::memory);
    if (policy == "binpack" && a_used != b_used) return a_used > b_used;
    if (policy == "spread" && a.users() != b.users()) return a.users() < b.users();
    return policy == "binpack" || policy == "spread" ? a.index < b.index : a.index > b.index;
  });
  for (const Card& card : cards) {
    for (const CardPart& part : part_of(objects, card, pod, request)) {
      given.cards.push_back(part);
      if (policy == "binpack") score += 100 * (card.sum(&CardPart::memory) + part.memory) / card.all;
      if (static_cast<double>(given.cards.size()) == request.count) return true;
    }
  }
  return false;
}

}  // namespace scenario::book
