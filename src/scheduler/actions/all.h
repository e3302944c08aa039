// Which actions exist?
#pragma once

#include <memory>
#include <span>

#include "scheduler/framework/config.h"

namespace scheduler {

class DomainBounds;
class Session;

std::span<const ActionFactory> all_actions();
// The actions that the agent scheduler runs.
std::span<const ActionFactory> single_pod_actions();

// The body of `allocate` where it need not try domains of the network.
std::unique_ptr<Action> make_allocate_with(std::unique_ptr<const DomainBounds> bounds);
// The body of `enqueue` where some group may enter: asks each, by the order of queues and groups.
void admit_by_order(Session& session);

}  // namespace scheduler
