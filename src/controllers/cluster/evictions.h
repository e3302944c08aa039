// The shared parts of controllers that take pods from nodes. They run under the names that kube-controller-manager has
// for them.
#pragma once

#include <memory>
#include <string_view>

#include "base/time.h"
#include "controllers/cluster/finished_pods.h"
#include "controllers/framework/controller.h"

namespace controllers::cluster {

// Deletes pods that do not tolerate a taint NoExecute of their node, or do not tolerate it any longer.
std::unique_ptr<Controller> make_taint_eviction_controller();

// Deletes pods that no node will ever let go: those of nodes that are not there, and those that end without one; and
// of pods that are over those that are too many.
std::unique_ptr<Controller> make_pod_garbage_collector(const FinishedPodLimits& limits = {});

// The index of pods by the node that they are bound to.
inline constexpr std::string_view kPodsByNode = "pods-by-node";
IndexBy pods_by_node();

// Says in a pod's status why it is taken away, in the condition DisruptionTarget; no reason: nothing is said. `fails`
// it as well, for nobody else will.
void record_reason(Plan& plan, const api::Json& pod, std::string_view reason, std::string_view message, base::Time now,
                   bool fails);

}  // namespace controllers::cluster
