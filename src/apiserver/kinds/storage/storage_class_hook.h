// The storage class of claims that name none: the default one, as Kubernetes' admission plugin DefaultStorageClass
// gives it. And whether a claim may grow, by its class, as its plugin PersistentVolumeClaimResize says.
#pragma once

#include "api/admission.h"

namespace apiserver {

api::AdmissionHook storage_class_hook();
api::AdmissionHook claim_growth_hook();

}  // namespace apiserver
