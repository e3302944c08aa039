// PipelineRuns: their tasks, and how they end.
#pragma once

#include <memory>

#include "controllers/framework/controller.h"
#include "controllers/pipelines/options.h"

namespace controllers::pipelines {

std::unique_ptr<Controller> make_run_controller(Options options);

}  // namespace controllers::pipelines
