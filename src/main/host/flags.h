// Flags of our programs: one row each; parsing, --help and errors follow. Accepts --name=value, --name value, and for
// booleans
// --name alone.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace volcano_main {

struct Flag {
  std::string_view name;
  std::variant<bool*, int*, std::string*, std::vector<std::string>*> target;
  std::string_view help;
};

// The words that Go takes for booleans; nothing for any other.
std::optional<bool> parse_bool(std::string_view word);

// Returns what is not a flag, in order. `--` ends the flags.
base::Result<std::vector<std::string>> parse_flags(const std::vector<Flag>& flags,
                                                   const std::vector<std::string>& arguments);
// Lines "  --name  help (default ...)" with the targets' present values.
std::string flags_help(const std::vector<Flag>& flags);

}  // namespace volcano_main
