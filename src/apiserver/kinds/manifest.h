// An object from a manifest as an API server fills it in: answers about files should be those of a cluster.
#pragma once

#include "api/admission.h"
#include "api/kinds.h"

namespace apiserver {

// Defaults of Kubernetes' own kinds (a limit becomes a request, ports of the host network), and of a pod what admission
// adds: amounts by the LimitRanges of its namespace, overhead and nodes of its RuntimeClass, priority and preemption
// policy of its PriorityClass. `objects` holds these. A pod that a server has seen (it has a resourceVersion) gets no
// amounts by LimitRanges, and a priority that is given stays. The error says in Kubernetes' words why a server would
// refuse the pod, which then has what came before. Custom kinds stay as they are.
base::Status complete_manifest(const api::ObjectReader& objects, const api::KindInfo& kind, api::Json& object);

}  // namespace apiserver
