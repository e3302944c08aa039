// Notebooks: a StatefulSet of one pod, a Service, and a status that says how the pod is (kubeflow.md 2.2).
#pragma once

#include <memory>

#include "controllers/framework/controller.h"
#include "controllers/notebooks/options.h"

namespace controllers::notebooks {

std::unique_ptr<Controller> make_notebook_controller(Options options);

}  // namespace controllers::notebooks
