// A script that vsub runs: its #VSUB lines are flags, and its text is the command.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"

namespace cli {

// The text of the file that the first word names, if that is a script with #VSUB lines.
std::optional<std::string> script_of(const World& world, const Values& values);
// The words of its #VSUB lines, which stand before its first command.
base::Result<std::vector<std::string>> script_flags(const std::string& text);
// The command for the text: its interpreter, with `words` (the script's name and arguments).
base::Result<std::vector<std::string>> script_command(const std::string& text, const std::vector<std::string>& words);

}  // namespace cli
