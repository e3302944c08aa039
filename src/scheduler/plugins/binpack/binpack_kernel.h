// How full would each node be with one more pod? All nodes in one pass over the columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace scheduler {

struct BinpackTerm {
  const std::int64_t* allocatable;  // columns of one resource, in its smallest unit
  const std::int64_t* used;
  std::int64_t amount;  // what the pod asks for
  double weight;        // not 0
  bool free = false;    // what would stay free counts, instead of what would be in use
};

// The weighted mean of the parts in use (or free), times 100 and `weight`; 0 where a resource would not suffice. A node
// that does not offer a resource is judged by the others. `divisor` is the sum of the weights, above 0.
double binpack_score(std::span<const BinpackTerm> terms, double divisor, double weight, std::size_t node);
// Adds the scores to `totals`; `count` is a multiple of 4. The result is bit-equal to scoring node by node.
void add_binpack_scores(std::span<const BinpackTerm> terms, double divisor, double weight, double* totals,
                        std::size_t count);

}  // namespace scheduler
