// The rules of a Job's failure policy and name, in Kubernetes' words.
#pragma once

#include <string>

#include "api/json/json.h"
#include "api/schema/field_errors.h"

namespace apiserver {

// Checks the specification at `path`, which has one.
void check_failure_policy(const api::Json& spec, const std::string& path, api::FieldErrors& errors);
// The last index of an indexed Job has the longest host name, NAME-INDEX.
void check_last_hostname(const api::Json& job, api::FieldErrors& errors);

}  // namespace apiserver
