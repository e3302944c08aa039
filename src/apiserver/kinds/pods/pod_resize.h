// The subresource resize of pods: processors and memory of containers that change while they run.
#pragma once

#include <vector>

#include "api/json/json.h"
#include "api/schema/field_errors.h"
#include "base/result.h"

namespace apiserver {

// `object`, what a client sent to the subresource, becomes `old_object` with the resources sent. Lists of other
// containers stay as sent, for check_resize() to refuse.
void take_resize(const api::Json& old_object, api::Json& object);
// The part of an applied configuration that is of this subresource, and can be owned through it.
api::Json resize_configuration(const api::Json& body);
// Only cpu and memory change, none of them goes, and the pod's class of service stays.
void check_resize(const api::Json& old_object, const api::Json& object, api::FieldErrors& errors);

}  // namespace apiserver
