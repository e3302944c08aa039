// The writes after which each scheduler's NodeShard holds the nodes assigned to it.
#include "controllers/sharding/step.h"

#include <algorithm>
#include <iterator>

#include "api/meta/resource.h"
#include "api/schema/quantity.h"
#include "base/format.h"

namespace controllers::sharding {

using api::Json;
namespace resources = api::resources;

namespace {

using Names = std::vector<std::string>;

Names names_in(const Json& list) {
  Names out;
  for (const Json& item : list.items()) {
    if (item.is_string()) out.push_back(item.str());
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

Names without(const Names& all, const Names& these) {
  Names out;
  std::set_difference(all.begin(), all.end(), these.begin(), these.end(), std::back_inserter(out));
  return out;
}

Json to_json(const Names& names) { return Json::array(std::vector<Json>(names.begin(), names.end())); }

// A pod counts until it is over or leaves; what a node runs by itself does not.
bool counts(const Json& pod) {
  const std::string_view phase = pod["status"]["phase"].as_string();
  return phase != "Succeeded" && phase != "Failed" && !api::is_deleting(pod) &&
         pod["metadata"]["annotations"].find("kubernetes.io/config.mirror") == nullptr;
}

std::optional<double> share_of(const std::vector<const Json*>& pods, std::string_view resource, const Json& capacity) {
  const auto all = api::Quantity::from_json(capacity[resource]);
  if (!all || all->sign() <= 0) return std::nullopt;
  api::Quantity used;
  for (const Json* pod : pods) {
    if (!counts(*pod)) continue;
    for (const Json& container : (*pod)["spec"]["containers"].items()) {
      if (const auto one = api::Quantity::from_json(container["resources"]["requests"][resource])) used += *one;
    }
  }
  return std::clamp(used.as_double() / all->as_double(), 0.0, 1.0);
}

const Json* find_shard(const Seen& seen, std::string_view name) {
  for (const Json* shard : seen.shards) {
    if (api::name_of(*shard) == name) return shard;
  }
  return nullptr;
}

// At least one node and a tenth of them are new, or their number differs, or some of them do not exist any more.
bool is_large(const Names& before, const Names& wanted, const Names& nodes) {
  if (before.size() != wanted.size() || !without(before, nodes).empty()) return true;
  const std::size_t added = without(wanted, before).size();
  return added > 0 && added * 10 >= wanted.size();
}

bool some_overlap(const Seen& seen) {
  Names all;
  for (const Json* shard : seen.shards) {
    const Names mine = names_in((*shard)["spec"]["nodesDesired"]);
    all.insert(all.end(), mine.begin(), mine.end());
  }
  std::sort(all.begin(), all.end());
  return std::adjacent_find(all.begin(), all.end()) != all.end();
}

bool some_change_is_large(const Seen& seen) {
  return some_overlap(seen) || std::any_of(seen.assigned.begin(), seen.assigned.end(), [&](const Assignment& one) {
           const Json* shard = find_shard(seen, one.scheduler);
           return shard == nullptr || is_large(names_in((*shard)["spec"]["nodesDesired"]), one.nodes, seen.nodes);
         });
}

Json head_of(std::string_view name) {
  return Json::object({{"apiVersion", "shard.volcano.sh/v1alpha1"},
                       {"kind", "NodeShard"},
                       {"metadata", Json::object({{"name", name}})}});
}

// COMPAT(sharding-status): what is to come and to go follows from what is desired and used, and is said at once, also
// where no scheduler runs that would say it.
void report_status(Plan& plan, const Json& shard, const Names& desired, base::Time now) {
  const Names in_use = names_in(shard["status"]["nodesInUse"]);
  Json status = Json::object({{"lastUpdateTime", base::format_rfc3339(now)},
                              {"nodesToAdd", to_json(without(desired, in_use))},
                              {"nodesToRemove", to_json(without(in_use, desired))}});
  plan.patch(resources::kNodeShards, shard, client::PatchType::kMerge, Json::object({{"status", std::move(status)}}))
      .subresource = "status";
}

void report_shortage(Plan& plan, const Json& shard, const Assignment& one) {
  if (one.nodes.size() >= one.nodes_wanted) return;
  plan.event(shard, "Warning", "NotEnoughNodes",
             base::format("{} of at least {} nodes are there for it", one.nodes.size(), one.nodes_wanted));
}

}  // namespace

NodeFacts facts_of(const Json& node, const std::vector<const Json*>& pods) {
  NodeFacts out{.name = std::string(api::name_of(node)), .labels = {}, .cpu = {}, .memory = {}};
  for (const auto& label : node["metadata"]["labels"].members())
    out.labels.emplace(std::string(label.name()), label.value.str());
  out.cpu = share_of(pods, "cpu", node["status"]["capacity"]);
  out.memory = share_of(pods, "memory", node["status"]["capacity"]);
  return out;
}

Plan step(const Seen& seen, base::Time now) {
  Plan plan;
  for (const Json* shard : seen.shards) {
    const bool is_known = std::any_of(seen.assigned.begin(), seen.assigned.end(),
                                      [&](const Assignment& one) { return one.scheduler == api::name_of(*shard); });
    if (!is_known) plan.remove(resources::kNodeShards, *shard);
  }
  const bool writes = some_change_is_large(seen);
  std::vector<std::pair<Json, Names>> statuses;
  for (const Assignment& one : seen.assigned) {
    const Json* shard = find_shard(seen, one.scheduler);
    if (shard == nullptr) {
      Json fresh = head_of(one.scheduler);
      fresh.edit("spec").set("nodesDesired", to_json(one.nodes));
      report_shortage(plan, fresh, one);
      statuses.emplace_back(fresh, one.nodes);
      plan.create(resources::kNodeShards, std::move(fresh));
      continue;
    }
    const Names before = names_in((*shard)["spec"]["nodesDesired"]);
    if (writes && before != one.nodes) {
      plan.patch(resources::kNodeShards, *shard, client::PatchType::kMerge,
                 Json::object({{"spec", Json::object({{"nodesDesired", to_json(one.nodes)}})}}));
      report_shortage(plan, *shard, one);
      statuses.emplace_back(*shard, one.nodes);
    } else if ((*shard)["status"]["lastUpdateTime"].as_string().empty()) {
      statuses.emplace_back(*shard, before);  // a crash came between the two writes
    }
  }
  if (!statuses.empty()) plan.begin_stage();
  for (const auto& [shard, desired] : statuses) report_status(plan, shard, desired, now);
  return plan;
}

}  // namespace controllers::sharding
