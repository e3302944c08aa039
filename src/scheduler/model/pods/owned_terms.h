// The demands of placed pods on pods near them.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "scheduler/model/core/ids.h"
#include "scheduler/model/core/symbols.h"
#include "scheduler/model/pods/node_counts.h"
#include "scheduler/model/pods/shape.h"

namespace scheduler {

// The demand of existing pods that carry a term on pods which the term's matcher selects.
struct OwnedTerm {
  MatcherId matcher;
  Symbol topology_key;
  NodeCounts required_apart;  // pods with this term as required anti-affinity, per node
  NodeCounts preferred;       // sum of signed weights of pods preferring it, per node
};

class OwnedTerms {
 public:
  // A pod of that shape is seen on the node (sign 1) or no longer (-1).
  void place(const Shape& shape, NodeId node, std::int64_t sign);
  // Terms of placed pods whose matchers are in this list.
  std::vector<const OwnedTerm*> of(const std::vector<std::uint32_t>& matchers) const;
  // No placed pod has a term with the matcher, and its id may come to mean another one.
  void forget(std::uint32_t matcher);
  // Grows when the first pod with a term is placed, or its last one goes.
  std::uint64_t changes() const { return changes_; }

 private:
  OwnedTerm& term(MatcherId matcher, Symbol key);

  std::vector<OwnedTerm> terms_;
  std::vector<std::uint32_t> free_;
  std::vector<std::vector<std::uint32_t>> of_matcher_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> by_term_;
  std::uint64_t changes_ = 1;
};

}  // namespace scheduler
