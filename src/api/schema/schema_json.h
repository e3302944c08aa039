// The parts of JSON Schema that CRDs and OpenAPI documents write alike.
#pragma once

#include <string>
#include <vector>

#include "api/json/json.h"
#include "api/schema/schema.h"

namespace api {

Json string_list(const std::vector<std::string>& values);
// enum, lengths, bounds and pattern of a scalar.
void add_validation(const Schema& schema, Json& out);

}  // namespace api
