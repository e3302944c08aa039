// The defaults and rules of HorizontalPodAutoscalers.
#pragma once

#include <vector>

#include "api/json/json.h"
#include "base/result.h"

namespace apiserver {

void default_autoscaler(api::Json& object);
void check_autoscaler(const api::Json& object, std::vector<base::Cause>& causes);

}  // namespace apiserver
