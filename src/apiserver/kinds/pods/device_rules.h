// The rules of claims, classes and slices of devices (resource.k8s.io), in Kubernetes' words.
#pragma once

#include "api/json/json.h"
#include "api/schema/field_errors.h"

namespace apiserver {

void check_device_class(const api::Json& object, api::FieldErrors& errors);
void check_resource_claim(const api::Json& object, api::FieldErrors& errors);
void check_claim_template(const api::Json& object, api::FieldErrors& errors);
void check_resource_slice(const api::Json& object, api::FieldErrors& errors);

}  // namespace apiserver
