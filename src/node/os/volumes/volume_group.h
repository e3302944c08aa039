// The group of a pod's volume (fsGroup), as a kubelet gives it to what lies there.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace node {

struct VolumeGroup {
  std::int64_t id = 0;
  bool on_mismatch = false;  // a folder that has the group, and the bits for it, is left as it is
};
// Gives the folder and everything below it to the group, which may read and write it then; folders hand the group on.
// Other file systems that are mounted below are left alone, and no link is followed: pods write there, also now.
base::Status give_to_group(const std::string& folder, const VolumeGroup& group);

}  // namespace node
