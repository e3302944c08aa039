// The part of OpenAPI documents about strangers' kinds.
#pragma once

#include "api/json/json.h"
#include "apiserver/custom/custom_kind.h"

namespace apiserver {

// Adds the definitions of the kind and of its list ("com.example.v1.Widget") to those of a document.
void add_custom_schemas(const CustomKind& kind, bool v3, api::Json& schemas);

}  // namespace apiserver
