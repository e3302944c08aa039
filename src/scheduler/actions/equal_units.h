// Which sets of units are there, where equal units need not be told apart?
//
// Equal pods on one node differ in nothing but their number: the sets of a hundred of them are a hundred, and not
// 2^100.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "scheduler/actions/eviction_cost.h"

namespace scheduler {

// Pods that go together.
struct EvictionUnit {
  std::vector<TaskId> tasks;
  EvictionCost cost;
};

// Positions of units that stand for one another, in their order; by the first of them.
using UnitClasses = std::vector<std::vector<std::size_t>>;
UnitClasses equal_units(const Model& model, const std::vector<EvictionUnit>& units);
// So many sets there are, counting up to one more than `most`.
std::size_t count_sets(const UnitClasses& classes, std::size_t most);
// Each set but the empty one as the mask of its units' positions. The first ones of each class go. There are at most 64
// units.
std::vector<std::uint64_t> sets_of(const UnitClasses& classes);

}  // namespace scheduler
