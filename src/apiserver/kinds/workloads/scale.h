// The subresource scale: how many replicas an object has, as an autoscaling/v1 Scale.
#pragma once

#include "api/json/json.h"
#include "api/kinds.h"
#include "base/result.h"

namespace apiserver {

// The answer to a GET of `object`'s scale.
api::Json scale_of(const api::KindInfo& kind, const api::Json& object);
// `object` with the replicas of `scale`. Refuses a negative or missing number, and an object that has no place for one.
base::Result<api::Json> with_scale(const api::KindInfo& kind, const api::Json& object, const api::Json& scale);

}  // namespace apiserver
