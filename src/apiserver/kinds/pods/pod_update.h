// The parts of a pod's spec that a write to the pod itself may change.
#pragma once

#include <vector>

#include "api/json/json.h"
#include "api/schema/field_errors.h"
#include "base/result.h"

namespace apiserver {

// Images, tolerations that are added, gates that are removed, a deadline that comes nearer, and a grace below zero that
// becomes a second; of a pod with gates also what narrows down where it may run. `errors` receives what else differs.
void check_pod_update(const api::Json& old_object, const api::Json& object, api::FieldErrors& errors);

}  // namespace apiserver
