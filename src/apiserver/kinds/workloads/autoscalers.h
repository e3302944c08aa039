// The defaults and rules of HorizontalPodAutoscalers.
#pragma once

#include <vector>

#include "api/json/json.h"
#include "api/schema/field_errors.h"
#include "base/result.h"

namespace apiserver {

void default_autoscaler(api::Json& object);
void check_autoscaler(const api::Json& object, api::FieldErrors& errors);

}  // namespace apiserver
