// Letters of ASCII, independent of the locale; all other bytes stay as they are.
#pragma once

#include <string>
#include <string_view>

namespace base {

inline std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

}  // namespace base
