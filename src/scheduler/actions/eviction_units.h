// Which pods of a node may go, and what do they cost with all that go with them?
//
// Searches for victims on one node know one pod of a group that goes whole, which stands for all; evictions and costs
// are of all that go with it.
#pragma once

#include <functional>
#include <vector>

#include "scheduler/actions/eviction_cost.h"
#include "scheduler/model/whole_groups.h"

namespace scheduler {

// Whether an action may displace the second pod for the first.
using Displaceable = std::function<bool(const Task&, const Task&)>;
// The candidates that plugins let go.
using MayGo = std::function<std::vector<TaskId>(const Task&, const std::vector<TaskId>&)>;

EvictionCost cost_with_all_gone(const Model& model, const EvictionCosts& costs, const std::vector<TaskId>& pods);
// The candidates of a node that may go. The first pod of a group that goes whole stands for all; it is there if an
// action may displace each of them, and plugins let all of them go.
std::vector<TaskId> units_that_may_go(const Model& model, const Task& task, const std::vector<TaskId>& candidates,
                                      const Displaceable& displaceable, const MayGo& may_go);

}  // namespace scheduler
