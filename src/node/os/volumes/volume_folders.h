// A pod's volumes on disk.
#pragma once

#include <string>

#include "base/result.h"
#include "node/machine/runtime.h"

namespace node {

// Makes the volume at `path`; on one that exists, brings its files up to date (readers see the old or the new set).
base::Status lay_out_volume(const std::string& path, const VolumeSpec& volume);
// Unmounts what lay_out_volume mounted. The folders go with the pod's.
void take_down_volumes(const std::string& volumes_folder);

}  // namespace node
