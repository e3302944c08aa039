// Texts that anybody may have written into an object, as a person sees them.
#pragma once

#include <string>
#include <string_view>

namespace cli {

// Control characters, by which a text could move the cursor or change what stands above it, in JSON's notation
// ("\u001b"); lines and tabs stay.
std::string for_terminal(std::string_view text);

}  // namespace cli
