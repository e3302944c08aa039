// fmt knows which characters can be seen; what differs are the names of the others.
#include "base/quote.h"

#include <cstddef>

#include "base/format.h"
#include "base/utf8.h"

namespace base {

namespace {

// Go's names of what fmt writes as \x07 and so on; empty: it has none.
std::string_view go_name(std::string_view digits) {
  if (digits == "07") return "\\a";
  if (digits == "08") return "\\b";
  if (digits == "0c") return "\\f";
  if (digits == "0b") return "\\v";
  return {};
}

}  // namespace

std::string go_quoted(std::string_view text) {
  const std::string seen = format("{:?}", text);
  const bool has_bytes = !is_utf8(text);  // that are not characters
  std::string out;
  out.reserve(seen.size());
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const std::string_view rest = std::string_view(seen).substr(i);
    if (!rest.starts_with("\\x")) {
      out += seen[i];
      if (seen[i] == '\\') out += seen[++i];  // the other half of an escape begins none
      continue;
    }
    const std::string_view digits = rest.substr(2, 2);
    if (const std::string_view name = go_name(digits); !name.empty())
      out += name;
    else
      out.append(digits[0] >= '8' && !has_bytes ? "\\u00" : "\\x").append(digits);
    i += 3;
  }
  return out;
}

}  // namespace base
