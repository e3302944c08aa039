// The rules of NetworkPolicies, Ingresses and their classes, in Kubernetes' words.
#pragma once

#include "api/json/json.h"
#include "api/schema/field_errors.h"

namespace apiserver {

void check_network_policy(const api::Json& object, api::FieldErrors& errors);
void check_ingress(const api::Json& object, api::FieldErrors& errors);
void check_ingress_class(const api::Json& object, api::FieldErrors& errors);

}  // namespace apiserver
