// The status that the agent reports for a pod. Pure.
#pragma once

#include "api/json/json.h"
#include "node/pod/pod_state.h"

namespace node {

// `pod` as last seen: transition times of unchanged conditions are kept from it.
api::Json status_for(const api::Json& pod, const PodState& state, const std::string& host_ip, const Moment& now);

}  // namespace node
