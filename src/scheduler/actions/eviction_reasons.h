// Why does no eviction make room for a group, in words that people are told?
#pragma once

#include <cstdint>
#include <string_view>

#include "scheduler/actions/victim_search.h"
#include "scheduler/framework/arguments.h"

namespace scheduler {

// The argument of an action that bounds its search for victims in one cycle.
std::int64_t search_steps(const Arguments& arguments);

// Why nobody goes for the job is told after what other actions said of it.
void report_evictions(Session& session, JobId job, std::string_view why);

// The search found nothing for the task: its group's trouble says what stands in the way.
void explain_in_vain(Session& session, const VictimSearch& search, const Task& task, const SearchBudget& budget);

}  // namespace scheduler
