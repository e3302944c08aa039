// The rules of a Job's failure policy, group and name, in Kubernetes' words.
#pragma once

#include <string>

#include "api/json/json.h"
#include "api/schema/field_errors.h"

namespace apiserver {

// How its pods are scheduled together (spec.scheduling), and what a change of that may touch.
void check_job_scheduling(const api::Json& spec, const std::string& path, api::FieldErrors& errors);
void check_job_scheduling_update(const api::Json& before, const api::Json& after, api::FieldErrors& errors);
// Checks the specification at `path`, which has one.
void check_failure_policy(const api::Json& spec, const std::string& path, api::FieldErrors& errors);
// The limits of each index, and what suffices for a success (spec.backoffLimitPerIndex, maxFailedIndexes,
// successPolicy).
void check_job_indexes(const api::Json& spec, const std::string& path, api::FieldErrors& errors);
// The last index of an indexed Job has the longest host name, NAME-INDEX.
void check_last_hostname(const api::Json& job, api::FieldErrors& errors);

}  // namespace apiserver
