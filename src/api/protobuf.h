// Reads Kubernetes' protobuf bodies of core kinds, which current clients send for their typed creates. Never written.
#pragma once

#include <string_view>

#include "api/json/json.h"
#include "base/result.h"

namespace api {

// `bytes` is the enveloped form: "k8s\0", then runtime.Unknown with the object inside.
base::Result<Json> parse_protobuf(std::string_view bytes);

}  // namespace api
