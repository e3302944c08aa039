// How pods are scheduled together: the rules that PodGroups and Workloads of scheduling.k8s.io share with Jobs.
#pragma once

#include <string>

#include "api/json/json.h"
#include "api/schema/field_errors.h"

namespace apiserver {

// Exactly one of `basic` and `gang`. Only a Job may leave the minimum out.
void check_scheduling_policy(const api::Json& policy, const std::string& path, api::FieldErrors& errors);
// Exactly one of `single` and `all`, if the mode is given.
void check_disruption_mode(const api::Json& mode, const std::string& path, api::FieldErrors& errors);
// One key of a label of nodes, at most.
void check_scheduling_constraints(const api::Json& constraints, const std::string& path, api::FieldErrors& errors);
// A policy may change the minimum of its gang only.
void check_fixed_policy(const api::Json& before, const api::Json& after, const std::string& path,
                        api::FieldErrors& errors);

}  // namespace apiserver
