// podGC: the pods of steps go when they, or the whole Workflow, have ended. Inside of argo only.
#pragma once

#include "api/schema/field_errors.h"
#include "pipelines/argo/workflow_engine.h"

namespace pipelines::argo {

void check_pod_gc(const api::Json& spec, const std::string& path, api::FieldErrors& errors);

// Adds the pods that are due to those that the decision ends.
void collect_pods(const WorkflowLook& look, WorkflowDecision& decision);

}  // namespace pipelines::argo
