// What do the containers of a pod ask for together? As Kubernetes counts it, without what the pod says as a whole.
#pragma once

#include <string_view>

#include "api/json/json.h"
#include "api/schema/quantity.h"

namespace api {

void add(ResourceList& sum, const ResourceList& more);
// Each amount becomes at least that of `other`.
void raise(ResourceList& list, const ResourceList& other);

// At the most demanding moment: the containers and sidecars together, or an init container beside the sidecars that
// were started before it. `side` is "requests" or "limits".
ResourceList containers_total(const Json& pod_spec, std::string_view side);

}  // namespace api
