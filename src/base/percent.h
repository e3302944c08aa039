// Percent encoding (RFC 3986): texts as parts of a URL.
#pragma once

#include <string>
#include <string_view>

namespace base {

// For a query: all but letters, digits and "-_.~" is encoded.
std::string percent_encode(std::string_view text);
// For one segment of a path: also what may stand there as it is ("!$&'()*+,;=:@") stays, so that names that people
// write look the same.
std::string percent_encode_segment(std::string_view text);

}  // namespace base
