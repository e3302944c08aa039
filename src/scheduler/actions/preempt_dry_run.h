// Preemption that looks before it leaps: on which node would the fewest and least important pods have to go?
#pragma once

#include <optional>
#include <vector>

#include "scheduler/actions/victim_search.h"
#include "scheduler/framework/arguments.h"

namespace scheduler {

struct DryRunSettings {
  bool enabled = false;                  // enableTopologyAwarePreemption
  std::int64_t candidates_percent = 10;  // of the nodes tried
  std::int64_t candidates_min = 1;
  std::int64_t candidates_max = 100;
};
DryRunSettings dry_run_settings(const Arguments& arguments);

struct DryRunChoice {
  NodeId node;
  std::vector<TaskId> victims;  // the most important first
};

// Tries nodes in the order of their ids until enough of them could be emptied, and names the best. The session is left
// as it was. `rule` says which pods of a node may be displaced at all.
std::optional<DryRunChoice> choose_by_dry_run(Session& session, const Task& task, const NodeSet& nodes,
                                              const DryRunSettings& settings, const EvictionRule& rule);

}  // namespace scheduler
