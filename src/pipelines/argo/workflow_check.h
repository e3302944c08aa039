// The part of Argo's Workflow that is run here (kubeflow.md 6.5). A field outside of it is refused by its path.
#pragma once

#include "api/json/json.h"
#include "api/schema/field_errors.h"

namespace pipelines::argo {

// Problems of a Workflow's specification.
void check_workflow(const api::Json& spec, api::FieldErrors& errors);

}  // namespace pipelines::argo
