// The words of an expression's text.
//
// A lexer is small and copies: a parser that must look ahead keeps a copy and returns to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "api/cel/value.h"
#include "base/result.h"

namespace api::cel {

enum class Kind : std::uint8_t { kEnd, kName, kLiteral, kSymbol };
struct Token {
  Kind kind = Kind::kEnd;
  std::string text;  // of names and symbols
  Value value;       // of literals
  std::size_t at = 0;
};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  base::Result<Token> next();
  base::Error wrong(std::string_view what) const;

 private:
  char peek(std::size_t ahead) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  void skip_blanks();
  int string_prefix() const;
  base::Result<Token> literal_text(Token out, int prefix);
  base::Status escape(std::string& out, bool bytes);
  base::Result<Token> number(Token out);

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace api::cel
