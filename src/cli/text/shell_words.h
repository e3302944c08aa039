// Cuts a command line into words as a shell does.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cli {

// Blanks separate; '...' keeps everything; in "..." and outside of quotes a backslash keeps the next character; a #
// that begins a word begins a comment, to the end of the line. The shell's expansions are not done. kBadRequest for a
// quote that is not closed, or a backslash at the end.
base::Result<std::vector<std::string>> split_words(std::string_view text);

}  // namespace cli
