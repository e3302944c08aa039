// Which nodes satisfy the parts of a pod's spec that only read facts of the node?
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "scheduler/model/model.h"

namespace scheduler {

// nodeSelector and required node affinity.
NodeSet nodes_matching_affinity(const Model& model, const Shape& shape);
// All taints with NoSchedule and NoExecute are tolerated.
NodeSet nodes_with_tolerated_taints(const Model& model, const Shape& shape);
// The domains of one topology key: nodes with the same value are in the same domain.
struct DomainColumn {
  static constexpr std::uint32_t kNone = 0xffff'ffff;
  std::vector<std::uint32_t> of_node;  // domain by node; kNone where the node lacks the key
  std::vector<Symbol> values;          // by domain
  std::size_t size() const { return values.size(); }
};

// Domain columns, kept while the nodes' labels stay as they are.
class DomainCache {
 public:
  std::shared_ptr<const DomainColumn> get(const Model& model, Symbol key);

 private:
  std::uint64_t generation_ = 0;
  std::map<Symbol, std::shared_ptr<const DomainColumn>> columns_;
  std::shared_ptr<const DomainColumn> no_domains_;  // of all keys that no node has, for pods name what they like
};

// The nodes that share the value of `key` with one of `nodes`.
class DomainBuilder {
 public:
  DomainBuilder(const Model& model, Symbol key) : model_(model), key_(key), members_(model.nodes.known()) {
    members_.clear();
  }
  void add_domain_of(std::uint32_t node);
  const NodeSet& members() const { return members_; }

 private:
  const Model& model_;
  Symbol key_;
  NodeSet members_;
  std::vector<Symbol> values_;  // done, sorted
};

}  // namespace scheduler
