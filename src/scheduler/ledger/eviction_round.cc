// How is a round of evictions written down, for a scheduler that comes after this one?
#include "scheduler/ledger/eviction_round.h"

#include <algorithm>
#include <cstdlib>

#include "api/json/json.h"

namespace scheduler {
namespace {

using api::Json;

// Longer lists are not written: a name that is not known counts as a part of the round.
constexpr std::size_t kListed = 64;
constexpr std::size_t kTextMax = 64 * 1024;

template <class List>
void put_list(Json& out, std::string_view key, const List& list) {
  if (list.size() > kListed) return;
  Json& texts = out.edit(key) = Json::array();
  for (const std::string& one : list) texts.push_back(one);
}

}  // namespace

std::string text_of(const EvictionRound& round, std::uint64_t state) {
  Json out = Json::object({{"at", base::format_rfc3339(round.at)},
                           {"ready", static_cast<std::int64_t>(round.ready)},
                           {"state", std::to_string(state)}});
  if (!round.has_unknown_groups) put_list(out, "groups", round.groups);
  if (!round.has_unknown_nodes) put_list(out, "nodes", round.nodes);
  if (round.victims.size() <= kListed) {
    Json& victims = out.edit("victims") = Json::object();
    for (const EvictionRound::Victim& one : round.victims) victims.set(one.key, one.uid.str());
  }
  return out.dump();
}

std::optional<EvictionRound> eviction_round_from(std::string_view text) {
  if (text.empty() || text.size() > kTextMax) return std::nullopt;
  const auto read = api::parse_json(text);
  if (!read.ok() || !read->is_object()) return std::nullopt;
  EvictionRound out;
  const auto at = base::parse_rfc3339((*read)["at"].as_string());
  const std::string state = (*read)["state"].str();
  if (!at || state.empty() || state.find_first_not_of("0123456789") != state.npos || state.size() > 20)
    return std::nullopt;
  out.at = *at;
  out.state = std::strtoull(state.c_str(), nullptr, 10);
  out.ready = static_cast<std::int32_t>(std::clamp<std::int64_t>((*read)["ready"].as_int(), 0, 1'000'000));
  out.has_unknown_groups = !(*read)["groups"].is_array();
  out.has_unknown_nodes = !(*read)["nodes"].is_array();
  for (const Json& one : (*read)["groups"].items()) out.groups.insert(one.str());
  for (const Json& one : (*read)["nodes"].items()) out.nodes.push_back(one.str());
  for (const auto& one : (*read)["victims"].members())
    out.victims.push_back({std::string(one.name()), Uid(one.value.as_string()), {}});
  out.text = Text(text);
  return out;
}

}  // namespace scheduler
