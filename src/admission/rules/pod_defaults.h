// PodDefaults of Kubeflow: what selected pods get when they are created (kubeflow.md 5.2).
#pragma once

#include <vector>

#include "admission/rules/rules.h"

namespace admission {

// Every PodDefault of the pod's namespace whose selector matches is merged into the pod. A contradiction between two of
// them, or with the pod, refuses the pod and names them.
AdmissionAnswer apply_pod_defaults(const AdmissionRequest& request, const ObjectReader& objects);

}  // namespace admission
