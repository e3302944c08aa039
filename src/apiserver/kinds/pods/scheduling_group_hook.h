// The scheduler of pods that are of a PodGroup of scheduling.k8s.io and name none: the one that knows groups.
#pragma once

#include "api/admission.h"

namespace apiserver {

api::AdmissionHook scheduling_group_hook();

}  // namespace apiserver
