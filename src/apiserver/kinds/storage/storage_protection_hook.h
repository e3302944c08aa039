// The additions to claims and volumes when they are made: the finalizer that keeps them while they are in use, as
// Kubernetes' admission plugin StorageObjectInUseProtection adds it. Controllers take it away
// (controllers/cluster/protection.h).
#pragma once

#include <vector>

#include "api/admission.h"

namespace apiserver {

std::vector<api::AdmissionHook> storage_protection_hooks();

}  // namespace apiserver
