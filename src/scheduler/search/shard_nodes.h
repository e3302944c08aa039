// Which nodes are of this scheduler's shard?
#pragma once

#include <vector>

#include "scheduler/model/model.h"
#include "scheduler/search/fit.h"

namespace scheduler {

// Fixed for a cycle.
class ShardNodes {
 public:
  // The model outlives it.
  explicit ShardNodes(const Model& model) : model_(model) {}

  // A new cycle. True if the own nodes are others than before.
  bool open_cycle();
  const NodeSet& own() const { return own_; }
  // The node is of another scheduler's shard, and shards are soft.
  bool is_foreign(NodeId node) const { return model_.shards.mode == ShardingMode::kSoft && !own_.has(node.index); }
  // The node is of another scheduler's shard, and shards are hard.
  bool is_barred(std::uint32_t node) const { return model_.shards.mode == ShardingMode::kHard && !own_.has(node); }
  // Takes away nodes of other schedulers, where shards are hard.
  void keep(NodeSet& nodes, FitErrors* errors) const;
  // The own nodes of the group where shards are soft and there are some; else all of it.
  NodeSet preferred(const NodeSet& group) const;
  // With soft shards: own nodes before others, else as they are.
  void own_first(std::vector<NodeId>& nodes) const;

 private:
  const Model& model_;
  NodeSet own_;
};

}  // namespace scheduler
