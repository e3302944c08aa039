// A pod's volumes as files and folders to lay out. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "api/json/json.h"
#include "base/result.h"
#include "node/machine/runtime.h"
#include "node/pod/lookups.h"

namespace node {

// The limit of the files of a pod's volumes together: they are held in memory, and a pod can name one large key of a
// ConfigMap fifty thousand times.
inline constexpr std::size_t kVolumeBytesMax = std::size_t{32} << 20;

// Errors read like the kubelet's FailedMount events.
base::Result<std::vector<VolumeSpec>> volumes_of(const api::Json& pod, const Lookups& lookups);
// `room`: what the files of the pod's volumes may still hold.
base::Result<VolumeSpec> volume_of(const api::Json& pod, const api::Json& volume, const Lookups& lookups,
                                   std::size_t& room);
// Stands for the files of a volume: another one, other files.
std::string version_of(const VolumeSpec& volume);
// A ConfigMap or Secret: its kind and its key.
using VolumeObject = std::pair<std::string, std::string>;
// The objects from which the pod's live volumes are made, whether they are there or not.
std::vector<VolumeObject> live_objects_of(const api::Json& pod);
// Whether the files of the pod's live volumes may be others after this change of its object.
bool may_change_volumes(const api::Json& before, const api::Json& after);
// True for volumes whose files follow the API objects they come from.
bool is_live_volume(const api::Json& volume);

}  // namespace node
