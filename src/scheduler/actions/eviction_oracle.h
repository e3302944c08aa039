// Do small plans of evictions hold against every other one? For tests, where rollbacks are proved too.
//
// The check is brute force: it looks at each set of pods on each node, and at each place for each pod.
#pragma once

#include "scheduler/actions/victim_search.h"

namespace scheduler {

// The choice for the task, whose evictions are in the journal since the mark, is the cheapest of all nodes in `within`.
void hold_against_all(Session& session, const EvictionCosts& costs, const EvictionRule& rule, const Task& task,
                      const NodeSet& within, Journal::Mark mark);

// The plan, in the journal since the mark, needs every one of its victims.
void hold_against_sparing(Session& session, JobId job, Journal::Mark mark);

}  // namespace scheduler
