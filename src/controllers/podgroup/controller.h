// The podgroup controller: plain pods of our schedulers get a group (controllers.md 7).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "controllers/framework/controller.h"

namespace controllers::podgroup {

struct Options {
  std::vector<std::string> scheduler_names = {"volcano"};
  bool inherit_owner_annotations = true;
  bool native_groups = true;  // pods of PodGroups of scheduling.k8s.io are another controller's (native_groups.h)
  bool workloads = true;  // ReplicaSets and StatefulSets: their groups follow the template and go with the last replica
};

std::unique_ptr<Controller> make_podgroup_controller(Options options);

// The group for a pod whose owners (ReplicaSet, DaemonSet, StatefulSet, batch Job) are `owners`.
api::Json group_for(const api::Json& pod, const std::vector<const api::Json*>& owners, bool inherit);
// "podgroup-<uid of the controller owner>", or of the pod itself.
std::string group_name_for(const api::Json& pod);

}  // namespace controllers::podgroup
