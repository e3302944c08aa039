// How do resource claims take part in filtering, scoring and placing?
#pragma once

#include <memory>

#include "scheduler/framework/votes.h"
#include "scheduler/plugins/predicates/predicates.h"

namespace scheduler {

// Null where the pod has no resource claims.
std::unique_ptr<ClusterFilter> make_claim_filter(const Model& model, const Task& task, std::uint64_t steps_max);
// Some request of the pod's claims has several alternatives.
bool has_alternatives(const Model& model, const Task& task);
// Nodes where earlier alternatives of prioritised requests are to be had come first.
std::unique_ptr<NodeScorer> make_claim_scorer(const Model& model, const Task& task, std::uint64_t steps_max);
// Claims that are missing, or ask for what does not exist, keep the pod from every node.
Refusal check_resource_claims(const Model& model, const Task& task);
// The task has a node now: gives it devices.
Refusal reserve_devices(Model& model, const Task& task, std::uint64_t steps_max);

}  // namespace scheduler
