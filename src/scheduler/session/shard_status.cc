// Which nodes does this scheduler claim of its shard at the end of a cycle?
#include "scheduler/session/shard_status.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>

#include "scheduler/ledger/ledger.h"

namespace scheduler {
namespace {

// Pods are on their way to nodes: they are still in use, though no longer desired.
void add_nodes_under_way(const Model& model, std::set<std::string>& in_use) {
  for (const std::string& name : model.shards.own()->in_use) {
    if (in_use.contains(name)) continue;
    const NodeId node = model.nodes.find(name);
    if (!node.is_set()) continue;
    const auto& tasks = model.nodes[node].tasks;
    const bool is_used = std::any_of(tasks.begin(), tasks.end(), [&](TaskId id) {
      return model.task(id).status == TaskStatus::kBinding && model.task(id).ours;
    });
    if (is_used) in_use.insert(name);
  }
}

}  // namespace

// The nodes that this session could use are a promise to other schedulers; they read it once the session has ended.
void close_shard(const SessionInput& in, Plan& plan) {
  NodeShards& shards = in.model.shards;
  if (shards.mode == ShardingMode::kNone || shards.own() == nullptr) return;
  // One at a time, each from what the watch shows of the one before.
  if (shards.claims_first && in.ledger.flights.is_under_way(Entry::kShard, shards.own_name)) return;
  NodeShard fresh = *shards.own();
  fresh.in_use = shards.wanted();
  add_nodes_under_way(in.model, fresh.in_use);
  fresh.to_add.clear();
  fresh.to_remove.clear();
  std::set_difference(fresh.desired.begin(), fresh.desired.end(), fresh.in_use.begin(), fresh.in_use.end(),
                      std::inserter(fresh.to_add, fresh.to_add.end()));
  std::set_difference(fresh.in_use.begin(), fresh.in_use.end(), fresh.desired.begin(), fresh.desired.end(),
                      std::inserter(fresh.to_remove, fresh.to_remove.end()));
  if (in.ledger.shard() == fresh) return;
  plan.shards.push_back({shards.own_name,
                         {fresh.in_use.begin(), fresh.in_use.end()},
                         {fresh.to_remove.begin(), fresh.to_remove.end()},
                         {fresh.to_add.begin(), fresh.to_add.end()},
                         in.now,
                         shards.claims_first ? shards.own_version() : ""});
  in.ledger.record(fresh);
  shards.record(std::move(fresh));
}

}  // namespace scheduler
