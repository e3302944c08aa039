// Texts that are lists: cut at a character, into views of the text.
#include "base/split.h"

#include <algorithm>

namespace base {

std::vector<std::string_view> split(std::string_view text, char by) {
  std::vector<std::string_view> out;
  out.reserve(static_cast<std::size_t>(std::count(text.begin(), text.end(), by)) + 1);
  for (;;) {
    const std::size_t end = text.find(by);
    out.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return out;
    text.remove_prefix(end + 1);
  }
}

std::vector<std::string_view> split_words(std::string_view text, char by) {
  std::vector<std::string_view> out;
  for (std::string_view piece : split(text, by)) {
    constexpr std::string_view kBlank = " \t\r\n";
    piece.remove_prefix(std::min(piece.find_first_not_of(kBlank), piece.size()));
    piece.remove_suffix(piece.size() - (piece.find_last_not_of(kBlank) + 1));
    if (!piece.empty()) out.push_back(piece);
  }
  return out;
}

std::string join(const std::vector<std::string>& items, std::string_view separator) {
  std::string text;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) text += separator;
    text += items[i];
  }
  return text;
}

}  // namespace base
