// Groups of Kubernetes itself: pods that name a PodGroup of scheduling.k8s.io (spec.schedulingGroup) are scheduled as a
// group of ours that is made from it, and its condition says how that went.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/native_group_resources.h"
#include "controllers/framework/controller.h"

namespace controllers::podgroup {

using api::resources::kNativePodGroups;
using api::resources::kNativeWorkloads;

// The name of the PodGroup that a pod says it is of; empty: none.
std::string_view native_group_of(const api::Json& pod);
// Our group for `native`, of which `pod` is one. `workload` may be null.
api::Json group_for_native(const api::Json& native, const api::Json* workload, const api::Json& pod);

std::unique_ptr<Controller> make_native_group_controller(std::vector<std::string> scheduler_names);

}  // namespace controllers::podgroup
