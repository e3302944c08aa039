// The specification of a Job, which CronJobs have as well.
#pragma once

#include <string>

#include "api/json/json.h"
#include "api/schema/field_errors.h"

namespace apiserver {

// `host_sysctls`: the stored template has some already.
void check_job_spec(const api::Json& spec, const std::string& path, bool host_sysctls, api::FieldErrors& errors);

}  // namespace apiserver
