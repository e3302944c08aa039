// Which fields of Kubernetes' own kinds stay as they were made.
#pragma once

#include <vector>

#include "api/json/json.h"
#include "api/kinds.h"
#include "base/result.h"

namespace apiserver {

// Problems of a change, in Kubernetes' words. Workloads, pods, services and what has rules of its own are elsewhere.
void check_fixed_fields(const api::KindInfo& kind, const api::Json& old_object, const api::Json& object,
                        std::vector<base::Cause>& causes);

}  // namespace apiserver
