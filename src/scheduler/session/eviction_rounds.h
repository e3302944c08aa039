// May pods be evicted for a group once more?
//
// A round begins with the evictions that are made for a group, and ends when the group has the places that they were
// made for. Further ones would be for nothing once the victims are gone and the group has no place: they wait until the
// group, the queues or the nodes say something else, or a group without a part in the round has come between.
#pragma once

#include <map>
#include <vector>

#include "scheduler/session/session.h"

namespace scheduler {

struct EvictionRound;
using EvictionRounds = std::map<JobId, EvictionRound>;

// False where a round for the job has not led to its placement; the job's trouble says so.
bool may_evict_for(Session& session, JobId id);

// Room is being made for the job, or was a moment ago: until the job has had its turn in the first cycle without the
// victims, it comes before others. Once a cycle.
bool comes_first(const Model& model, EvictionRounds& rounds, JobId id);
bool is_beneficiary(const Session& session, JobId id);  // the same

// Evictions of the plan from position `first` on were made for the job.
void begin_eviction_round(Session& session, JobId id, std::size_t first);

}  // namespace scheduler
