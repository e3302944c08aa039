// The statuses of queues at the end of a cycle.
#pragma once

#include "scheduler/session/plan.h"
#include "scheduler/session/session_input.h"

namespace scheduler {

// Plans the allocated amounts of each queue where they differ from what the ledger says.
void close_queues(const SessionInput& in, Plan& plan);

}  // namespace scheduler
