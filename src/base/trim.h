// A text without the blanks around it.
#pragma once

#include <string_view>

namespace base {

inline constexpr std::string_view kBlanks = " \t\r\n";
// The blanks of Go's unicode.IsSpace and of CEL, as far as they are ASCII.
inline constexpr std::string_view kAllBlanks = " \t\r\n\v\f";

// A view into `text`.
inline std::string_view trim(std::string_view text, std::string_view blanks = kBlanks) {
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

}  // namespace base
