// The mounts of a container: volumes, and the files that every container has.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "node/os/pod_folders.h"
#include "node/runtime.h"

namespace node {

// The mounts of the container that lies in `folder`, with sources resolved. Places inside volumes, which containers may
// change meanwhile, and volumes of pods with ids of their own are mounted below folder/places.
base::Result<std::vector<MountSpec>> container_mounts(const PodFolders& folders, const ContainerSpec& spec,
                                                      const std::string& folder);
// Makes the root of a pod with ids of its own the owner of a file.
base::Status give_file(const std::string& path, std::int64_t first_id);
// Takes the pinned places away.
void release_mounts(const std::string& folder);

}  // namespace node
