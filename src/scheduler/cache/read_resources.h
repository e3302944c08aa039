// The resources that a scheduler reads.
#pragma once

#include <vector>

#include "api/meta/resource.h"
#include "scheduler/cache/intake_options.h"

namespace scheduler {

// In the order in which they are best listed.
const std::vector<api::ResourceId>& read_resources();
// Resources that concern groups and queues alone; single pods do not need them.
bool concerns_groups(const api::ResourceId& id);
// Flags and gates may leave some unread, which are not asked for then (the account need not have the right), and are
// passed over in files.
bool is_switched_on(const api::ResourceId& id, const IntakeOptions& options);
// The resources that a scheduler with these options asks for, in that order.
std::vector<api::ResourceId> watched_resources(const IntakeOptions& options);
// A cluster may lack these of them: the scheduler works without.
bool may_be_absent(const api::ResourceId& id);

}  // namespace scheduler
