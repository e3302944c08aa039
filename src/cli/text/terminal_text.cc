// Control characters of ASCII, and of Latin-1 as they are in UTF-8.
#include "cli/text/terminal_text.h"

#include "base/format.h"

namespace cli {

std::string for_terminal(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    const bool is_latin_control = c == 0xC2 && next >= 0x80 && next <= 0x9F;
    if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7F) {
      out += base::format("\\u{:04x}", c);
    } else if (is_latin_control) {
      out += base::format("\\u{:04x}", next);
      ++i;
    } else {
      out += static_cast<char>(c);
    }
  }
  return out;
}

}  // namespace cli
