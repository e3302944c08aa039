// The requests of a pod's containers together, and of the pod as a whole. As Kubernetes counts it.
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
// Whether a pod can ask for it as a whole (spec.resources): cpu, memory and huge pages.
bool is_pod_level(std::string_view resource);
bool has_pod_level_resources(const Json& pod_spec);
// The same as containers_total(), where the pod says nothing of a resource as a whole. Without its overhead.
ResourceList pod_total(const Json& pod_spec, std::string_view side);
// The same while containers are resized: each counts with the most of what its spec asks for, what its node has set
// aside for it and what it has; where the node called the resize infeasible, the spec does not count.
ResourceList containers_in_use(const Json& pod, std::string_view side);
// The same where the pod says something as a whole.
ResourceList pod_in_use(const Json& pod, std::string_view side);
// Whether its node says that it can never resize the pod as its spec asks.
bool is_resize_infeasible(const Json& pod);
// Guaranteed, Burstable or BestEffort, from cpu and memory of the pod as a whole, or of all containers if it says
// nothing.
std::string_view qos_class(const Json& pod_spec);

}  // namespace api
