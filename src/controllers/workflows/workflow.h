// Workflows of Argo (kubeflow.md 6.5): one look of src/pipelines/argo a turn, and the writes that it asks for.
#pragma once

#include <memory>

#include "controllers/framework/controller.h"
#include "controllers/pipelines/options.h"

namespace controllers::workflows {

inline constexpr const char* kController = "workflow-controller";

// Workflows are left to Argo's own controller, a Deployment called workflow-controller in argo or kubeflow.
std::unique_ptr<Controller> make_workflow_controller(const pipelines::Options& options);

}  // namespace controllers::workflows
