// The mounts of a container: volumes, and the files that every container has.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "node/machine/runtime.h"
#include "node/os/pod_folders.h"

namespace node {

// The mounts of the container that lies in `folder`, with sources resolved. Places inside volumes, which containers may
// change meanwhile, and volumes of pods with ids of their own are mounted below folder/places.
base::Result<std::vector<MountSpec>> container_mounts(const PodFolders& folders, const ContainerSpec& spec,
                                                      const std::string& folder);
// How the mount that a path lies on passes further mounts on.
struct MountShare {
  std::string mount_point = {};
  bool shared = false;  // with the mounts of its group
  bool slave = false;   // it gets those of another group
};
// From the text of /proc/self/mountinfo. Pure.
MountShare share_of_path(std::string_view mountinfo, std::string_view path);
// Makes the root of a pod with ids of its own the owner of a file.
base::Status give_file(const std::string& path, std::int64_t first_id);
// Takes the pinned places away.
void release_mounts(const std::string& folder);

}  // namespace node
