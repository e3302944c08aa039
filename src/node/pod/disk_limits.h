// Which of its limits is a pod beyond with what it keeps on this machine's disk? Pure.
#pragma once

#include <optional>
#include <string>

#include "node/machine/runtime.h"
#include "node/pod/pod_state.h"

namespace node {

// Pods from here on (system-cluster-critical) are never evicted by a kubelet, nor refused for want of room.
inline constexpr std::int64_t kCriticalPriority = 2'000'000'000;

// The files that the node gives to the containers of a pod may hold so much where the pod has no limit. No program
// needs as much: they are a list of names, short texts, and 4096 bytes that are read of each termination message.
inline constexpr std::int64_t kGivenBytesMax = std::int64_t{16} << 20;

// The places to be measured of the pod: all it keeps on the disk where it has a limit, else the files that it is given;
// nothing of one that a kubelet does not evict for it.
std::optional<DiskPlaces> disk_places(const api::Json& pod, const PodState& state);
// Why the pod is evicted, in a kubelet's words; nothing: it keeps its limits.
std::optional<std::string> beyond_disk_limits(const api::Json& pod, const DiskUse& use);

}  // namespace node
