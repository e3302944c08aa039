// The JobFlow controller: a graph of Jobs, each made from a JobTemplate when those before it are done
// (controllers.md 10).
#pragma once

#include <memory>

#include "base/metrics.h"
#include "controllers/framework/controller.h"

namespace controllers::jobflow {

// `metrics` has the rows of controllers/metrics.h, may be null, and outlives the controller.
std::unique_ptr<Controller> make_jobflow_controller(base::Metrics* metrics = nullptr);

}  // namespace controllers::jobflow
