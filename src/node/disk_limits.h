// Which of its limits is a pod beyond with what it keeps on this machine's disk? Pure.
#pragma once

#include <optional>
#include <string>

#include "node/pod_state.h"
#include "node/runtime.h"

namespace node {

// Pods from here on (system-cluster-critical) are never evicted by a kubelet, nor refused for want of room.
inline constexpr std::int64_t kCriticalPriority = 2'000'000'000;

// What is to be measured of the pod; nothing: it has no such limit, or is one that a kubelet does not evict for it.
std::optional<DiskPlaces> disk_places(const api::Json& pod, const PodState& state);
// Why the pod is evicted, in a kubelet's words; nothing: it keeps its limits.
std::optional<std::string> beyond_disk_limits(const api::Json& pod, const DiskUse& use);

}  // namespace node
