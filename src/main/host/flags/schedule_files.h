// Which files does `volcano schedule` read, and what do they hold?
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace volcano_main {

// Names and contents: a file, every object file of a folder in the order of their names, or standard input for "-".
// Gzipped files are unpacked.
base::Result<std::vector<std::pair<std::string, std::string>>> read_object_files(const std::string& path);

}  // namespace volcano_main
