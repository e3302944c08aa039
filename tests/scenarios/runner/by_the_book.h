// Which pods does `allocate` bind, read from the specification alone?
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace scenario {

// The "bind" lines of each cycle, in the order of decisions, each cycle after "----". It shares nothing with the
// scheduler but the reading of lines. An error for what it does not know: anything but allocate with priority, gang,
// drf, proportion or capacity, predicates and binpack over queues, nodes, classes, groups, pods and their end.
base::Result<std::string> decide_by_the_book(std::string_view text);

}  // namespace scenario
