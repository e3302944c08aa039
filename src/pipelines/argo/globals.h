// The values that every template of a Workflow may ask for.
#pragma once

#include "pipelines/argo/text_template.h"
#include "pipelines/argo/workflow_engine.h"

namespace pipelines::argo {

// {{workflow...}}, but for its status and failures, which only an exit handler knows.
Variables globals_of(const WorkflowLook& look);

}  // namespace pipelines::argo
