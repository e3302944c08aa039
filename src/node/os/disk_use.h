// The disk space that a pod's volumes and containers take.
#pragma once

#include <atomic>

#include "node/machine/runtime.h"
#include "node/os/pod_folders.h"

namespace node {

// Blocks until every file below was looked at, or `cancelled`. Mounts from elsewhere do not count.
DiskUse measure_disk_use(const PodFolders& folders, const DiskPlaces& places, const std::atomic<bool>& cancelled);

}  // namespace node
