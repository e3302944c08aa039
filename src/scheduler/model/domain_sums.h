// How much do the nodes of each domain have, together?
//
// Sums per domain and dimension, kept current from the model's touched list: a change on one node costs the number of
// domains around it. The findings of a session at its opening are remembered beside them.
#pragma once

#include <cstdint>
#include <vector>

#include "scheduler/model/model.h"

namespace scheduler {

class DomainSums {
 public:
  explicit DomainSums(Model& model) : model_(model) {}

  // At the opening of a session, when nothing is promised yet.
  void open();
  // Follows what happened since. Callers ask for it before they read used().
  void catch_up();

  std::int64_t allocatable(DomainId domain, Dim dim) const { return get(sums_.allocatable, domain, dim); }
  std::int64_t idle_at_open(DomainId domain, Dim dim) const { return get(opened_.idle, domain, dim); }
  std::int64_t future_at_open(DomainId domain, Dim dim) const { return get(opened_.future, domain, dim); }
  // Used when the session opened, with what it has placed since and without what it has evicted.
  std::int64_t used(DomainId domain, Dim dim) const {
    return future_at_open(domain, dim) - idle_at_open(domain, dim) + allocatable(domain, dim) -
           get(sums_.future, domain, dim);
  }

 private:
  using Rows = std::vector<std::vector<std::int64_t>>;  // by dimension, then by domain or node
  struct Amounts {
    Rows allocatable, idle, future;
  };

  static std::int64_t get(const Rows& rows, DomainId domain, Dim dim) {
    return dim < rows.size() && domain.index < rows[dim].size() ? rows[dim][domain.index] : 0;
  }
  void rebuild();
  void follow(std::uint32_t node);
  void widen();

  Model& model_;
  Amounts sums_;     // by domain
  Amounts counted_;  // by node: what is in the sums
  Amounts opened_;   // by domain; idle and future only
  std::uint64_t generation_ = 0;
  std::uint64_t touched_epoch_ = 0;
  std::size_t touched_position_ = 0;
};

}  // namespace scheduler
