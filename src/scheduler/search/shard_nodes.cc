// Which nodes are of this scheduler's shard?
#include "scheduler/search/shard_nodes.h"

#include <algorithm>
#include <string>
#include <utility>

namespace scheduler {
namespace {

constexpr std::string_view kNotOurShard = "node isn't in scheduler node shard";

}  // namespace

bool ShardNodes::open_cycle() {
  if (model_.shards.mode == ShardingMode::kNone) return false;
  NodeSet own = model_.nodes.known();
  own.clear();
  for (const std::string& name : model_.shards.usable()) {
    const NodeId node = model_.nodes.find(name);
    if (node.is_set() && model_.nodes.known().has(node.index)) own.add(node.index);
  }
  const bool differs = own.words() != own_.words();
  own_ = std::move(own);
  return differs;
}

void ShardNodes::keep(NodeSet& nodes, FitErrors* errors) const {
  if (model_.shards.mode != ShardingMode::kHard) return;
  if (errors != nullptr) {
    NodeSet foreign = nodes;
    foreign.subtract(own_);
    errors->add(kNotOurShard, foreign.count());
    errors->add_unresolvable(foreign);
  }
  nodes &= own_;
}

NodeSet ShardNodes::preferred(const NodeSet& group) const {
  NodeSet own = group;
  own &= own_;
  return own.empty() ? group : own;
}

void ShardNodes::own_first(std::vector<NodeId>& nodes) const {
  if (model_.shards.mode != ShardingMode::kSoft) return;
  std::stable_partition(nodes.begin(), nodes.end(), [&](NodeId node) { return own_.has(node.index); });
}

}  // namespace scheduler
