// HorizontalPodAutoscalers: the number of pods of a workload follows what they use.
#pragma once

#include <functional>
#include <memory>

#include "api/node_usage.h"
#include "controllers/framework/controller.h"

namespace controllers::autoscaling {

// The present use of pods; null: nothing has been measured. Loop thread.
using LatestUsage = std::function<std::shared_ptr<const api::NodeUsage>()>;

inline const api::ResourceId kAutoscalers{"autoscaling", "v2", "horizontalpodautoscalers"};

// `usage` unset: nothing is measured, and autoscalers say so.
std::unique_ptr<Controller> make_autoscaler_controller(LatestUsage usage);

}  // namespace controllers::autoscaling
