// Which nodes satisfy the parts of a pod's spec that only read facts of the node?
#pragma once

#include "scheduler/model/model.h"

namespace scheduler {

// nodeSelector and required node affinity.
NodeSet nodes_matching_affinity(const Model& model, const Shape& shape);
// All taints with NoSchedule and NoExecute are tolerated.
NodeSet nodes_with_tolerated_taints(const Model& model, const Shape& shape);
// The nodes that share the value of `key` with one of `nodes`.
class DomainBuilder {
 public:
  DomainBuilder(const Model& model, Symbol key) : model_(model), key_(key), members_(model.nodes.known()) { members_.clear(); }
  void add_domain_of(std::uint32_t node);
  const NodeSet& members() const { return members_; }

 private:
  const Model& model_;
  Symbol key_;
  NodeSet members_;
  std::vector<Symbol> values_;  // done, sorted
};

}  // namespace scheduler
