// Numbers in texts.
#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <string_view>

namespace base {

// The number that the whole text is, in decimal: digits, with a '-' in front where the type has negative numbers. Any
// other text gives nothing: empty ones, blanks, '+', and numbers that do not fit the type.
template <std::integral Number>
std::optional<Number> parse_number(std::string_view text) {
  Number out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return out;
}

}  // namespace base
