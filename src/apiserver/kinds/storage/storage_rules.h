// The rules of PersistentVolumes, their claims and their classes, in Kubernetes' words.
#pragma once

#include "api/json/json.h"
#include "api/schema/field_errors.h"

namespace apiserver {

void check_claim(const api::Json& object, api::FieldErrors& errors);
void check_volume(const api::Json& object, api::FieldErrors& errors);
// The source of a volume that is there stays.
void check_volume_change(const api::Json& old_object, const api::Json& object, api::FieldErrors& errors);
void check_storage_class(const api::Json& object, api::FieldErrors& errors);

}  // namespace apiserver
