// A pod's volumes as files and folders to lay out. Pure.
#pragma once

#include <cstddef>
#include <vector>

#include "api/json/json.h"
#include "base/result.h"
#include "node/lookups.h"
#include "node/runtime.h"

namespace node {

// What the files of a pod's volumes hold together at most: they are held in memory, and a pod can name one large key of
// a ConfigMap fifty thousand times.
inline constexpr std::size_t kVolumeBytesMax = std::size_t{32} << 20;

// Errors read like the kubelet's FailedMount events.
base::Result<std::vector<VolumeSpec>> volumes_of(const api::Json& pod, const Lookups& lookups);
// `room`: what the files of the pod's volumes may still hold.
base::Result<VolumeSpec> volume_of(const api::Json& pod, const api::Json& volume, const Lookups& lookups,
                                   std::size_t& room);
// True for volumes whose files follow the API objects they come from.
bool is_live_volume(const api::Json& volume);

}  // namespace node
