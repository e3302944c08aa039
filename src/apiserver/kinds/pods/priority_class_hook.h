// One PriorityClass at most is the default, as Kubernetes' admission has it.
#pragma once

#include "api/admission.h"

namespace apiserver {

// Refuses a class with `globalDefault` beside another one.
api::AdmissionHook priority_class_hook();

}  // namespace apiserver
