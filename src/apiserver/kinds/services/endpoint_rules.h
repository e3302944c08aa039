// The rules of Endpoints and EndpointSlices, in Kubernetes' words.
#pragma once

#include "api/json/json.h"
#include "api/schema/field_errors.h"

namespace apiserver {

void check_endpoints(const api::Json& object, api::FieldErrors& errors);
void check_endpoint_slice(const api::Json& object, api::FieldErrors& errors);

}  // namespace apiserver
