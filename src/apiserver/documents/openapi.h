// OpenAPI v2 (JSON and protobuf) and v3 of everything served.
#pragma once

#include <optional>
#include <string_view>

#include "rt/http.h"

namespace apiserver {

// The answer to "/openapi/v2", "/openapi/v3" and "/openapi/v3/..."; nothing for other paths. Thread-safe.
std::optional<rt::HttpResponse> openapi_document(const rt::Target& target, std::string_view accept);

}  // namespace apiserver
