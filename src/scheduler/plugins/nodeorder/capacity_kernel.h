// Least allocated, most allocated and balanced allocation of every node for one pod, in one pass over the columns.
#pragma once

#include <cstddef>
#include <cstdint>

namespace scheduler {

struct CapacityTask {
  const std::int64_t *cpu_cap, *memory_cap, *cpu_used, *memory_used, *cpu_real, *memory_real;
  double cpu, memory;                // counted with defaults for containers that ask for nothing
  double cpu_wanted, memory_wanted;  // as asked
  double least, most, balanced;      // weights
  const double* balance_now;         // balance_points() of each node; not read where `balanced` is 0
};

// How evenly both are used: 0 to 100 in whole points, 100 where one is missing.
double balance_points(std::int64_t cpu_used, std::int64_t cpu_cap, std::int64_t memory_used, std::int64_t memory_cap);

// The weighted sum of the three, for one node.
double capacity_score(const CapacityTask& task, std::size_t node);
// Adds the weighted scores to `totals`; `count` is a multiple of 4. Columns hold values from 0 to 2^52. The result is
// bit-equal to scoring node by node.
void add_capacity_scores(const CapacityTask& task, double* totals, std::size_t count);

}  // namespace scheduler
