// The use of a pod in a quota, and the least of a whole gang.
#pragma once

#include <functional>
#include <string_view>

#include "api/schema/quantity.h"
#include "controllers/job/job.h"

namespace controllers::job {

// Usage of one pod in the terms of a ResourceQuota: counts, requests and limits (controllers.md 3.9).
api::ResourceList quota_usage(const api::Json& pod_spec);

// The sum for the `min_available` pods that start first. `priority_of` gives a priority class's value, 0 if unknown.
api::ResourceList min_resources(const Job& job, const std::function<std::int64_t(std::string_view)>& priority_of);

}  // namespace controllers::job
