// The kinds that the server serves: /, /api, /apis, resource lists, and the aggregated form of the two.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"
#include "apiserver/custom/served_kinds.h"

namespace apiserver {

// The version of groups with several that clients take who do not say which; of others the first.
using PreferredVersions = std::map<std::string, std::string, std::less<>>;  // by group

// The document at a discovery path ("/api", "/apis", "/api/v1", "/apis/batch.volcano.sh/v1alpha1", ...), or nothing.
// `aggregated`: the APIGroupDiscoveryList of /api and /apis.
std::optional<api::Json> discovery_document(std::string_view path, bool aggregated, std::string_view server_address,
                                            const PreferredVersions& preferred = {}, const ServedKinds& kinds = {});

// The document at "/": the paths of all those documents, those that are open, and `further` ones, sorted.
api::Json root_paths(const ServedKinds& kinds, const std::vector<std::string>& further);

// The answer of /version for this `version` of the program. Clients compare it with their own Kubernetes version, so it
// names the level of the API that is spoken.
api::Json version_document(std::string_view version);

}  // namespace apiserver
