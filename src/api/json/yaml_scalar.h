// The meaning of a YAML scalar: the resolver shared by the reader and the writer (which quotes what would be misread).
#pragma once

#include <string_view>

#include "api/json/json.h"
#include "base/result.h"

namespace api {

// `plain` is false for quoted and block scalars, which stay strings unless tagged.
base::Result<Json> resolve_yaml_scalar(std::string_view text, std::string_view tag, bool plain);

}  // namespace api
