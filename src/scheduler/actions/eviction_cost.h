// The cost of an eviction: what do groups lose when some of their pods go?
//
// Costs are compared member by member: a pod of a more important group weighs more than any number of others, a group
// that can no longer go on weighs more than work, and work is what has to be done again.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <unordered_map>
#include <vector>

#include "scheduler/session/session.h"

namespace scheduler {

struct EvictionCost {
  std::int32_t group_priority = std::numeric_limits<std::int32_t>::min();  // the highest among the victims' groups
  std::int32_t pod_priority = std::numeric_limits<std::int32_t>::min();    // the highest among the victims
  std::int64_t broken_groups = 0;                                          // groups that fall below their minimum
  std::int64_t lost_work = 0;  // shares of the cluster times minutes, start included
  std::int64_t pods = 0;
  auto operator<=>(const EvictionCost&) const = default;
  bool is_free() const { return pods == 0; }
};

class EvictionCosts {
 public:
  explicit EvictionCosts(Session& session);

  // The pods are evicted together, from the state of now.
  EvictionCost of(const std::vector<TaskId>& victims) const;
  EvictionCost of_one(TaskId id) const;
  // The work of one pod: its share of the cluster, for each minute that it ran and one for its start.
  std::int64_t work_of(TaskId id) const;

 private:
  struct Loss {
    std::uint64_t changes = ~std::uint64_t{0};  // Job::changes when it was added up
    std::int64_t work = 0;
  };

  // All that the group's pods did.
  std::int64_t work_of_group(const Job& job) const;
  // So many pods of the group leave.
  static bool breaks(const Job& job, std::int32_t leaving);

  const Model& model_;
  const base::Time now_;
  std::vector<double> shares_;  // by dimension: what one unit is of the cluster
  mutable std::unordered_map<std::uint32_t, Loss> groups_;
  mutable std::unordered_map<std::uint32_t, std::int64_t> sizes_;  // by shape
};

}  // namespace scheduler
