// PodDisruptionBudgets: how many pods may be evicted at this moment.
#pragma once

#include <memory>

#include "controllers/framework/controller.h"

namespace controllers::workloads {

std::unique_ptr<Controller> make_disruption_controller();

}  // namespace controllers::workloads
