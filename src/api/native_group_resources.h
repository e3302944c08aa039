// The groups of pods of Kubernetes' own API.
#pragma once

#include "api/meta/resource.h"

namespace api::resources {

inline const ResourceId kNativePodGroups{"scheduling.k8s.io", "v1beta1", "podgroups"};
inline const ResourceId kNativeWorkloads{"scheduling.k8s.io", "v1beta1", "workloads"};

}  // namespace api::resources
