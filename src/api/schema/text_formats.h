// Is a text of a format that schemas can ask for ("date-time", "ipv4")?
#pragma once

#include <string_view>

namespace api {

// True for a format that is not known: it asks for nothing.
bool has_text_format(std::string_view format, std::string_view text);

}  // namespace api
