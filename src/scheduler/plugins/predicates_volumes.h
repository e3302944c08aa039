// How do the claims of pods take part in filtering and placing?
#pragma once

#include <memory>

#include "scheduler/framework/votes.h"
#include "scheduler/plugins/predicates.h"

namespace scheduler {

std::unique_ptr<ClusterFilter> make_volume_filter(const Model& model, const PredicateSwitches& on, const Task& task);
// Claims that are missing, or cannot wait for a node, keep the pod from every node.
Refusal check_claims(const Model& model, const Task& task);
// The task has a node now: promises volumes to its claims.
Refusal reserve_volumes(Model& model, const Task& task);

}  // namespace scheduler
