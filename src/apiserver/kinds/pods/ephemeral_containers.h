// The subresource ephemeralcontainers of pods: containers that join a pod while it runs, to look into it.
#pragma once

#include <vector>

#include "api/json/json.h"
#include "api/schema/field_errors.h"
#include "base/result.h"

namespace apiserver {

// `object`, what a client sent to the subresource, becomes `old_object` with the ephemeral containers sent.
void take_ephemeral_containers(const api::Json& old_object, api::Json& object);
// Containers are only added, and have only what such a container can have.
void check_ephemeral_containers(const api::Json& old_object, const api::Json& object, api::FieldErrors& errors);

}  // namespace apiserver
