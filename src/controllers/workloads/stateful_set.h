// StatefulSets: pods with names, an order and claims of their own.
#pragma once

#include <memory>

#include "controllers/framework/controller.h"

namespace controllers::workloads {

std::unique_ptr<Controller> make_stateful_set_controller();

}  // namespace controllers::workloads
