// The class of Ingresses that name none: the default one, as Kubernetes' admission plugin DefaultIngressClass gives it.
#pragma once

#include "api/admission.h"

namespace apiserver {

api::AdmissionHook ingress_class_hook();

}  // namespace apiserver
