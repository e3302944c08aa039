// Names of the resources of services beyond core/v1.
#pragma once

#include "api/meta/resource.h"

namespace api::resources {

inline const ResourceId kEndpointSlices{"discovery.k8s.io", "v1", "endpointslices"};
// By which a slice says whose it is, and who keeps it.
inline constexpr std::string_view kServiceNameLabel = "kubernetes.io/service-name";
inline constexpr std::string_view kManagedByLabel = "endpointslice.kubernetes.io/managed-by";

}  // namespace api::resources
