// How do the claims of pods take part in filtering and placing?
#pragma once

#include <memory>

#include "scheduler/framework/votes.h"
#include "scheduler/plugins/predicates/predicates.h"

namespace scheduler {

// The existing claims that the pods of a shape use.
std::vector<const Claim*> claims_of(const Model& model, const Shape& shape);
// Null where the pod has no claims.
std::unique_ptr<ClusterFilter> make_limit_filter(const Model& model, const Task& task);
std::unique_ptr<ClusterFilter> make_zone_filter(const Model& model, const Task& task);
std::unique_ptr<ClusterFilter> make_binding_filter(const Model& model, const Task& task);
std::unique_ptr<ClusterFilter> make_once_pod_filter(const Model& model, const Task& task);
// Nodes with more room for what is to be made of the same classes score by the shape (gate StorageCapacityScoring).
using UtilizationShape = std::vector<std::pair<double, double>>;  // (utilization, score), ascending, score 0..100
std::unique_ptr<NodeScorer> make_storage_scorer(const Model& model, const UtilizationShape& shape, double weight,
                                                const Task& task);
// Claims that are missing, or cannot wait for a node, keep the pod from every node.
Refusal check_claims(const Model& model, const Task& task);
// The task has a node now: promises volumes to its claims.
Refusal reserve_volumes(Model& model, const Task& task);

}  // namespace scheduler
