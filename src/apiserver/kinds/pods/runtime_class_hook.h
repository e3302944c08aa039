// The additions to a pod from its RuntimeClass, as Kubernetes' admission makes them: overhead, labels of nodes,
// tolerations.
#pragma once

#include "api/admission.h"

namespace apiserver {

// Refuses pods of classes that are not there, or that contradict them; and overhead that no class gives.
api::AdmissionHook runtime_class_hook();

}  // namespace apiserver
