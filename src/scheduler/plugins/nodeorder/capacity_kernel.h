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
};

// A third resource that balanced allocation looks at, on one node. A capacity of 0: the node does not have it.
struct BalancedDevice {
  double capacity = 0, used = 0, wanted = 0;
};

// The weighted scores of one node. Columns hold values from 0 to 2^52.
double capacity_score(const CapacityTask& task, std::size_t node, const BalancedDevice& device = {});
// Adds capacity_score() of each node to `totals`, to the last bit; `count` is a multiple of 4.
void add_capacity_scores(const CapacityTask& task, double* totals, std::size_t count);

}  // namespace scheduler
