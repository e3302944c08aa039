// The root file system of a container: an image, and above it what the container changes.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace node {

struct RootMount {
  std::string lower;   // the image's folder
  std::string folder;  // the container's; changes are kept here
  std::string at;      // made if it is not there
  // For a pod with ids of its own: the file its user namespace is kept on, and the first of its ids.
  std::string user_file = {};
  std::int64_t first_id = 0;
};
base::Status mount_root(const RootMount& root);
// The folder where the root of the container in `folder` is mounted when its pod has ids of its own: these have to
// reach it, and cannot enter the data folder. Only these and root can. `roots` is one folder a data folder.
std::string mapped_root(const std::string& roots, const std::string& folder);
// Unmounts all that mount_root mounted, also of one that did not come to its end, and takes away a mapped place.
void unmount_root(const std::string& folder, const std::string& at);

}  // namespace node
