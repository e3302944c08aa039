// Which nodes does this scheduler claim of its shard at the end of a cycle?
#pragma once

#include "scheduler/session/plan.h"
#include "scheduler/session/session_input.h"

namespace scheduler {

// Plans the status of the own NodeShard where it differs from what the ledger says.
void close_shard(const SessionInput& in, Plan& plan);

}  // namespace scheduler
