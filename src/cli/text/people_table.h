// Tables for people: they fit a terminal's width, and say what a script would not ask for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/text/terminal.h"

namespace cli {

// Rows of which the first is the header. Columns are as wide as their texts; what does not fit is taken from the last
// one, then from the widest. States have colours where a terminal has them; control characters are shown as text.
std::string people_table(const Terminal& terminal, std::vector<std::vector<std::string>> rows);

// "lr-2" before "lr-10".
bool natural_less(std::string_view a, std::string_view b);

// A scheduler's message in the words of a person: without counts of a gang, and the first sentence only.
std::string plain_reason(std::string_view message);

}  // namespace cli
