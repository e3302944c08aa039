// Texts that are lists: cut at a character, into views of the text; and put together again.
#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <vector>

namespace base {

// All pieces, empty ones too: one more than `by` occurs. The views live as long as what `text` points to.
std::vector<std::string_view> split(std::string_view text, char by);
// The same without blanks around the pieces, and without empty pieces.
std::vector<std::string_view> split_words(std::string_view text, char by);
// The views of a text that goes away at once would be of nothing.
template <std::same_as<std::string> Text>
std::vector<std::string_view> split(Text&& text, char by) = delete;
template <std::same_as<std::string> Text>
std::vector<std::string_view> split_words(Text&& text, char by) = delete;

std::string join(const std::vector<std::string>& items, std::string_view separator);

}  // namespace base
