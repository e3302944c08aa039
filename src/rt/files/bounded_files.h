// Small files that others write while we run: tokens, keys and configurations.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"
#include "base/time.h"

namespace rt {

// All of a file of at most `bytes_max` bytes. A file that is not an ordinary one (a pipe such as a shell's <(...), a
// device) is waited for `patience` in all; with none it is refused, so that a loop that reads it is never held up.
// Errors name the path and the reason.
base::Result<std::string> read_bounded_file(const std::string& path, std::size_t bytes_max, base::Duration patience);

}  // namespace rt
