// Which PodDisruptionBudgets exist, and how many disruptions does each still allow?
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "scheduler/model/core/selector.h"

namespace scheduler {

struct DisruptionBudget {
  Symbol ns;
  LabelSelector selector;           // one that is absent or empty protects nobody here
  std::int64_t allowed = 0;         // status.disruptionsAllowed
  std::set<std::string> disrupted;  // names in status.disruptedPods: already counted
  bool operator==(const DisruptionBudget&) const = default;
};

// By "ns/name", which is the order in which they are asked.
using DisruptionBudgets = std::map<std::string, DisruptionBudget, std::less<>>;

}  // namespace scheduler
