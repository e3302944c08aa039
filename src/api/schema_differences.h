// The objects that a CustomResourceDefinition accepts and another of the same kind does not.
#pragma once

#include <string>
#include <vector>

#include "api/json/json.h"

namespace api {

// The places that both schemas (openAPIV3Schema) have, and that accept less `after` than `before`: another type, or a
// member that only `after` asks for and has no default for. Each with its path: "spec.weight is integer instead of
// string", "spec.tasks[].name is required". Limits of values are not compared.
std::vector<std::string> narrower_places(const Json& before, const Json& after);

}  // namespace api
