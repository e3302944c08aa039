// Viewers of claims: a Deployment of a pod that has the claim, and a Service if it is to be reached (kubeflow.md 3.1).
#pragma once

#include <memory>

#include "controllers/framework/controller.h"
#include "controllers/notebooks/options.h"

namespace controllers::notebooks {

std::unique_ptr<Controller> make_pvcviewer_controller(Options options);

}  // namespace controllers::notebooks
