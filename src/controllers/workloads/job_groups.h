// Jobs of batch/v1 whose spec.scheduling says how their pods are scheduled together: each gets a Workload and a
// PodGroup of scheduling.k8s.io, and its pods name that group.
#pragma once

#include <string>

#include "api/json/json.h"
#include "controllers/framework/plan.h"

namespace controllers::workloads {

// Whether the Job's pods are scheduled as a group that is made for it: spec.scheduling is set, the template names no
// group of its own, and no other object controls the Job.
bool has_own_group(const api::Json& job);
// The names that follow from the Job's name and uid, of 253 characters at most.
std::string workload_name_of(const api::Json& job);
std::string group_name_of(const api::Json& job);
// The two as spec.scheduling and the rest of the Job make them. The PodGroup refers to `workload`, which is stored.
api::Json workload_for(const api::Json& job);
api::Json group_for(const api::Json& job, const api::Json& workload);

// The next writes of the two (null: not there), of which a new minimum reaches both. True if the group is there, so
// that pods can name it.
bool plan_group(const api::Json& job, const api::Json* workload, const api::Json* group, Plan& plan);

}  // namespace controllers::workloads
