// A Workflow that failed and is tried again because somebody asks for it: what failed goes, and what succeeded stays.
//
// The request is written first and stays until the status tells of the new beginning, so that an end of any program in
// between loses nothing: pods of the last attempt go while it stands, and no pod is made before it is gone.
#pragma once

#include "pipelines/argo/workflow_engine.h"

namespace pipelines::argo {

// The request: an annotation of the Workflow.
inline constexpr std::string_view kRetryAnnotation = "pipelines.volcano.sh/retry";

// The merge patch of a Workflow that failed.
api::Json retry_request();
bool asks_for_retry(const api::Json& workflow);
WorkflowDecision begin_retry(const WorkflowLook& look);

}  // namespace pipelines::argo
