// Quotes, backslashes and comments (cli.md 3.1).
#include "cli/text/shell_words.h"

#include <optional>

namespace cli {

namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

base::Error ended(const char* message) { return base::make_error(base::Code::kBadRequest, message); }

// Appends what is quoted at `at`, which stands on the quote; leaves `at` on the closing one.
base::Status read_quoted(std::string_view text, std::size_t& at, std::string& word) {
  const char quote = text[at];
  for (++at; at < text.size(); ++at) {
    if (text[at] == quote) return {};
    if (quote == '"' && text[at] == '\\' && ++at == text.size()) return ended("EOF found after escape character");
    word += text[at];
  }
  return ended("EOF found when expecting closing quote");
}

}  // namespace

base::Result<std::vector<std::string>> split_words(std::string_view text) {
  // COMPAT(words)
  std::vector<std::string> words;
  std::optional<std::string> word;  // the one that is being read
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (is_blank(c)) {
      if (word) words.push_back(*std::exchange(word, std::nullopt));
      continue;
    }
    if (c == '#' && !word) {
      at = std::min(text.find('\n', at), text.size());
      continue;
    }
    if (!word) word.emplace();
    if (c == '\'' || c == '"') {
      TRY_VOID(read_quoted(text, at, *word));
    } else if (c == '\\') {
      if (++at == text.size()) return ended("EOF found after escape character");
      *word += text[at];
    } else {
      *word += c;
    }
  }
  if (word) words.push_back(*std::move(word));
  return words;
}

}  // namespace cli
