// The additions to a pod from its service account: the name, and a volume with a token, as Kubernetes' admission adds
// it.
#pragma once

#include "api/admission.h"

namespace apiserver {

// Refuses pods of accounts that are not there, but for `default`, which may be on its way.
api::AdmissionHook service_account_hook();

}  // namespace apiserver
