// The PodGroup that stands for a Job in the scheduler.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "api/json/json.h"
#include "controllers/job/job.h"

namespace controllers::job {

using PriorityOf = std::function<std::int64_t(std::string_view)>;

api::Json group_for(const Job& job, const PriorityOf& priority_of);
// The JSON patch that brings an existing group in line with the job, or nothing if it is.
std::optional<api::Json> group_patch(const Job& job, const api::Json& group, const PriorityOf& priority_of);

}  // namespace controllers::job
