// The storage class of claims that name none: the default one, as Kubernetes' admission plugin DefaultStorageClass
// gives it.
#pragma once

#include "api/admission.h"

namespace apiserver {

api::AdmissionHook storage_class_hook();

}  // namespace apiserver
