// A folder below a folder in which a stranger writes, as a tar: regular files and folders. Links, and anything else,
// stay out of it, and no name leads out of the folder.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"
#include "rt/files/rooted_files.h"

namespace rt {

inline constexpr std::size_t kFolderEntriesMax = 10'000;
inline constexpr int kFolderDepthMax = 32;

// Names are relative to the folder, in their order. Errors: kNotFound, kInvalid (not a folder), kTooLarge (more than
// `bytes_max` in all, or more entries than kFolderEntriesMax, or deeper than kFolderDepthMax).
base::Result<std::string> rooted_folder_as_tar(const RootedPath& folder, std::size_t bytes_max);

}  // namespace rt
