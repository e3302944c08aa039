// Which nodes are this scheduler's, where several schedulers share a cluster by NodeShards?
#include "scheduler/model/nodes/node_shards.h"

#include <utility>

namespace scheduler {
namespace {

void keep_common(std::set<std::string>& names, const std::set<std::string>& others) {
  std::erase_if(names, [&](const std::string& name) { return !others.contains(name); });
}

}  // namespace

void NodeShards::set(std::string_view name, NodeShard shard, std::string_view version) {
  if (name == own_name) own_version_ = version;
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

void NodeShards::record(NodeShard shard) {
  keep_common(confirmed_, shard.in_use);
  shards_.insert_or_assign(own_name, std::move(shard));
  refresh();
}

void NodeShards::confirm(const std::set<std::string>& in_use) {
  confirmed_ = in_use;
  refresh();
}

void NodeShards::limit_claims(const std::set<std::string>& in_use) {
  keep_common(confirmed_, in_use);
  refresh();
}

void NodeShards::refresh() {
  const NodeShard* mine = own();
  if (mine == nullptr) return;
  std::set<std::string> others;
  for (const auto& [name, shard] : shards_) {
    if (name != own_name) others.insert(shard.in_use.begin(), shard.in_use.end());
  }
  std::set<std::string> held, wanted, usable;
  // All watches show claims in the same order. The shard that sees its own claim before another's has the node; who
  // comes later sees that, too.
  for (const std::string& node : confirmed_) {
    if (claims_first && (held_.contains(node) || !others.contains(node))) held.insert(node);
  }
  for (const std::string& node : mine->desired) {
    if (!others.contains(node) || held.contains(node)) wanted.insert(node);
    if (wanted.contains(node) && (!claims_first || held.contains(node))) usable.insert(node);
  }
  held_ = std::move(held);
  if (wanted == wanted_ && usable == usable_) return;
  wanted_ = std::move(wanted);
  usable_ = std::move(usable);
  ++generation_;
}

}  // namespace scheduler
