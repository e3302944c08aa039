// On which nodes a DaemonSet has its pods, and what ties a pod to its node. Pure.
#pragma once

#include <string>
#include <string_view>

#include "api/json/json.h"

namespace controllers::workloads {

struct NodeFit {
  bool runs = false;   // a pod belongs there
  bool stays = false;  // one that is there already may stay
};

// `spec` is the pod spec of a template, with what daemon_pod_spec() adds.
NodeFit fit_for(const api::Json& spec, const api::Json& node);

// The spec of a template with the tolerations that all pods of DaemonSets have: nodes are not left because they are not
// ready, under pressure or cordoned.
api::Json daemon_pod_spec(const api::Json& pod_template);
// The same for one node only: the scheduler places it there.
api::Json spec_for_node(api::Json spec, std::string_view node);
// The node that a pod is on, or is meant for; empty: none.
std::string node_of(const api::Json& pod);

}  // namespace controllers::workloads
