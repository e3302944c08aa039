// Small files, read and written whole.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace rt {

// Errors name the path and the system's reason.
base::Result<std::string> read_file(const std::string& path);
// Writes to a temporary name beside it, syncs, renames: readers see the old or the new content.
base::Status write_file(const std::string& path, std::string_view content, int mode);
base::Status make_folders(const std::string& path, int mode);
// Removes a file, or a folder with everything in it; follows no links and does not cross into mounts, which stay with
// what leads to them (an error then). A few descriptors and little memory, however deep folders are nested. A folder
// that is gone already is fine.
base::Status remove_tree(const std::string& path);

}  // namespace rt
