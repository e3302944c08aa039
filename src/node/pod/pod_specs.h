// From a pod's JSON to what the runtime starts. Pure.
#pragma once

#include "api/json/json.h"
#include "base/result.h"
#include "node/machine/amounts.h"
#include "node/machine/runtime.h"
#include "node/pod/lookups.h"
#include "node/pod/pod_state.h"

namespace node {

// Without volumes, which volumes.h makes.
SandboxSpec sandbox_spec(const api::Json& pod);
// `resources` of a container with its pod's limits where it has none: what runs in it sees no others.
api::Json effective_resources(const api::Json& pod, const api::Json& container);
// How early the kernel picks it when memory runs out.
int oom_score_adjustment(const api::Json& pod, const api::Json& container, const api::ResourceList& allocatable);
// Errors are those of CreateContainerConfigError.
base::Result<ContainerSpec> container_spec_for(const api::Json& pod, const ContainerState& container,
                                               const Lookups& lookups);
// The id of one attempt: the same whenever it is asked for.
std::string container_id(std::string_view pod_uid, std::string_view container, int attempt);
// The wishes of the pod that are not met here, in words; it runs without.
std::vector<std::string> left_out(const api::Json& pod, bool host_ports_answer);
std::string hostname_of(const api::Json& pod);
PullPolicy pull_policy(const api::Json& container);

}  // namespace node
