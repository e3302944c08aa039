// Which pods does `allocate` bind, read from the specification alone?
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace scenario {

// The "bind" lines of each cycle, in the order of decisions, and then, where they are shown, the "device" lines in the
// order of their names, each cycle after "----". It shares nothing with the scheduler but the reading of lines. An
// error for what it does not know: anything but allocate with priority, gang, drf, proportion or capacity, predicates,
// binpack, nodeorder, deviceshare (all families) and numa-aware, over queues, nodes, classes, groups, pods and their
// end, devices and their claims, and the CPUs of nodes.
base::Result<std::string> decide_by_the_book(std::string_view text);
// The binds of what was played: the decisions as decide_by_the_book() writes them.
std::string binds_of(const std::string& played);
// The same with the binds of each cycle in the order of their names, as they are printed without `show order`.
std::string sorted_binds(const std::string& binds);

}  // namespace scenario
