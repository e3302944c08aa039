// Fields of pods that a feature gate switches off are not read.
#pragma once

#include "api/json/json.h"
#include "scheduler/model/model.h"

namespace scheduler {

// Some gate that is off takes fields of pods away.
bool switches_fields_off(const FeatureGates& gates);
api::Json without_gated_fields(api::Json pod, const FeatureGates& gates);

}  // namespace scheduler
