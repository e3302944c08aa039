// The least of a whole gang, in the terms of a quota.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "api/schema/quantity.h"
#include "controllers/job/job.h"

namespace controllers::job {

// The sum for the `min_available` pods that start first. `priority_of` gives a priority class's value, 0 if unknown.
api::ResourceList min_resources(const Job& job, const std::function<std::int64_t(std::string_view)>& priority_of);

}  // namespace controllers::job
