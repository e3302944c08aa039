// One agent a node: the holder of a lock on a file of the state folder, which ends with the process.
#pragma once

#include <string>

#include "base/result.h"
#include "rt/files/rooted_files.h"

namespace colocation {

// kConflict: another process has it.
base::Result<rt::Descriptor> lock_node(const std::string& state_folder);

}  // namespace colocation
