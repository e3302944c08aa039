// A pod's volumes as files and folders to lay out. Pure.
#pragma once

#include <vector>

#include "api/json/json.h"
#include "base/result.h"
#include "node/lookups.h"
#include "node/runtime.h"

namespace node {

// Errors read like the kubelet's FailedMount events.
base::Result<std::vector<VolumeSpec>> volumes_of(const api::Json& pod, const Lookups& lookups);
base::Result<VolumeSpec> volume_of(const api::Json& pod, const api::Json& volume, const Lookups& lookups);
// True for volumes whose files follow the API objects they come from.
bool is_live_volume(const api::Json& volume);

}  // namespace node
