// The priority of a pod, by its PriorityClass or the default one.
#pragma once

#include "api/admission.h"
#include "api/json/json.h"
#include "base/result.h"

namespace apiserver {

// Sets priority and preemption policy. kForbidden, in Kubernetes' words, where the class does not exist or the pod says
// something else.
base::Status set_pod_priority(const api::ObjectReader& objects, api::Json& pod);

}  // namespace apiserver
