// A Workflow that failed and begins anew because somebody asks for it: what failed goes, and what succeeded stays.
//
// The wish is written first and stays until the status tells of the new beginning, so that an end of any program in
// between loses nothing: pods of the last attempt go while it stands, and no pod is made before it is gone.
#pragma once

#include "pipelines/argo/workflow_engine.h"

namespace pipelines::argo {

// The wish: an annotation of the Workflow.
inline constexpr std::string_view kAnewAnnotation = "pipelines.volcano.sh/begins-anew";

// The merge patch of a Workflow that failed.
api::Json wish_to_begin_anew();
bool wishes_to_begin_anew(const api::Json& workflow);
WorkflowDecision begin_anew(const WorkflowLook& look);

}  // namespace pipelines::argo
