// What the server serves: /api, /apis, resource lists, and the aggregated form of both.
#pragma once

#include <optional>
#include <string_view>

#include "api/json/json.h"

namespace apiserver {

// The document at a discovery path ("/api", "/apis", "/api/v1", "/apis/batch.volcano.sh/v1alpha1", ...), or nothing.
// `aggregated`: the APIGroupDiscoveryList of /api and /apis.
std::optional<api::Json> discovery_document(std::string_view path, bool aggregated, std::string_view server_address);

}  // namespace apiserver
