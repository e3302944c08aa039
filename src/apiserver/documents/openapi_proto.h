// The protobuf form of an OpenAPI v2 document, which kubectl before 1.24 reads in no other form.
#pragma once

#include <string>

#include "api/json/json.h"

namespace apiserver {

// Field numbers are those of the public openapi.v2 message definitions (gnostic, OpenAPIv2.proto).
std::string openapi_v2_proto(const api::Json& document);

}  // namespace apiserver
