// The plain twin of the scheduler: it leaves nothing out and remembers nothing, and must decide the same.
//
// Nodes are searched one by one, groups admitted one by one, every domain is tried, plugins are new in every cycle.
#pragma once

#include "scheduler/framework/config.h"
#include "scheduler/session/decider.h"

namespace scheduler {

// `registry` with the twin's actions.
Registry plain_registry(Registry registry);
// Before every cycle of a decider that was made with plain_registry().
void begin_plain_cycle(Decider& decider);

}  // namespace scheduler
