// Names in the texts of a Workflow that will never have a value: a parameter, artifact, step or task that is not there.
#pragma once

#include "api/json/json.h"
#include "api/schema/field_errors.h"

namespace pipelines::argo {

void check_names(const api::Json& spec, api::FieldErrors& errors);
// Parameters of the Workflow itself that have no value. A document may lack them: a run of it gives them.
void check_values(const api::Json& spec, api::FieldErrors& errors);

}  // namespace pipelines::argo
