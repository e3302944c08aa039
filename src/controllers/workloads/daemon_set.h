// DaemonSets: one pod on each node that takes it.
#pragma once

#include <memory>

#include "controllers/framework/controller.h"

namespace controllers::workloads {

std::unique_ptr<Controller> make_daemon_set_controller();

}  // namespace controllers::workloads
