// The files of DATA/keys: which there are, and how each is read.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace volcano_main {

// Nothing: it is not there. A file that is there is an ordinary one of at most 1 MiB, with something in it, so that no
// pipe in its place is waited for; errors name the path.
base::Result<std::optional<std::string>> read_key_file(const std::string& path);

struct KeyFile {
  std::string name;
  std::string content;
};
bool is_key_file(std::string_view name);
// The files with which a restored cluster is the same for its users. Certificates that a start makes anew for the same
// CA may be missing, as pairs; what else is missing is an error that names all of it.
base::Result<std::vector<KeyFile>> all_key_files(const std::string& folder);

}  // namespace volcano_main
