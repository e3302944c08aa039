// A session's use of the network's topology.
#pragma once

#include <cstdint>

#include "scheduler/session/session.h"

namespace scheduler {

// Settles what groups ask for and the domains in which they are, once, before the plugins open.
void open_topology(Session& session);

// The job's tasks forget what was found for them so far in this session: one part's, or all.
void forget_attempts(Session& session, JobId job, std::uint32_t part);
void forget_attempts(Session& session, JobId job);

}  // namespace scheduler
