// Which nodes are this scheduler's, where several schedulers share a cluster by NodeShards?
#include "scheduler/model/nodes/node_shards.h"

namespace scheduler {

void NodeShards::set(std::string_view name, NodeShard shard) {
  shards_.insert_or_assign(std::string(name), std::move(shard));
  refresh();
}

void NodeShards::remove(std::string_view name) {
  if (const auto found = shards_.find(name); found != shards_.end()) shards_.erase(found);
  refresh();
}

const NodeShard* NodeShards::own() const {
  const auto found = shards_.find(own_name);
  return found == shards_.end() ? nullptr : &found->second;
}

void NodeShards::refresh() {
  const NodeShard* mine = own();
  if (mine == nullptr) return;
  std::set<std::string> usable = mine->desired;
  for (const auto& [name, shard] : shards_) {
    if (name == own_name) continue;
    for (const std::string& node : shard.in_use) usable.erase(node);
  }
  if (usable == usable_) return;
  usable_ = std::move(usable);
  ++generation_;
}

}  // namespace scheduler
