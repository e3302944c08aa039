// The priority of a pod, or of a group of scheduling.k8s.io, by its PriorityClass or the default one.
#pragma once

#include "api/admission.h"
#include "api/json/json.h"
#include "base/result.h"

namespace apiserver {

// Both set priority and preemption policy. kForbidden, in Kubernetes' words, where the class does not exist or the
// object says something else.
base::Status set_pod_priority(const api::ObjectReader& objects, api::Json& pod);
base::Status set_group_priority(const api::ObjectReader& objects, api::Json& group);

}  // namespace apiserver
