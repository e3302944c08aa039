// The words of an expression's text: literals, names, symbols.
#include "api/cel/lexer.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "base/format.h"

namespace api::cel {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

void append_utf8(std::string& out, std::uint32_t point) {
  if (point < 0x80) {
    out += static_cast<char>(point);
  } else if (point < 0x800) {
    out += static_cast<char>(0xc0 | point >> 6);
    out += static_cast<char>(0x80 | (point & 0x3f));
  } else if (point < 0x10000) {
    out += static_cast<char>(0xe0 | point >> 12);
    out += static_cast<char>(0x80 | (point >> 6 & 0x3f));
    out += static_cast<char>(0x80 | (point & 0x3f));
  } else {
    out += static_cast<char>(0xf0 | point >> 18);
    out += static_cast<char>(0x80 | (point >> 12 & 0x3f));
    out += static_cast<char>(0x80 | (point >> 6 & 0x3f));
    out += static_cast<char>(0x80 | (point & 0x3f));
  }
}

}  // namespace

base::Result<Token> Lexer::next() {
  skip_blanks();
  Token out;
  out.at = at_;
  if (at_ == text_.size()) return out;
  const char c = text_[at_];
  if (const int prefix = string_prefix(); prefix >= 0) return literal_text(out, prefix);
  if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return number(out);
  if (is_letter(c)) {
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) out.text += text_[at_++];
    out.kind = Kind::kName;
    return out;
  }
  static constexpr std::string_view kSymbols[] = {"&&", "||", "==", "!=", "<=", ">=", "<", ">", "+", "-", "*", "/",
                                                  "%",  "!",  "?",  ":",  "(",  ")",  "[", "]", "{", "}", ",", "."};
  for (const std::string_view symbol : kSymbols) {
    if (!text_.substr(at_).starts_with(symbol)) continue;
    at_ += symbol.size();
    out.kind = Kind::kSymbol;
    out.text = symbol;
    return out;
  }
  return wrong(base::format("unexpected character '{}'", c));
}

base::Error Lexer::wrong(std::string_view what) const {
  return base::make_error(base::Code::kInvalid, base::format("column {}: {}", at_ + 1, what));
}

void Lexer::skip_blanks() {
  while (at_ < text_.size()) {
    if (text_.substr(at_).starts_with("//")) {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r' ||
               text_[at_] == '\f') {
      ++at_;
    } else {
      return;
    }
  }
}

// How many of r and b stand before a quote; -1 when no string begins here.
int Lexer::string_prefix() const {
  int length = 0;
  while (length < 2) {
    const char c = peek(static_cast<std::size_t>(length));
    if (c != 'r' && c != 'R' && c != 'b' && c != 'B') break;
    ++length;
  }
  const char quote = peek(static_cast<std::size_t>(length));
  return quote == '"' || quote == '\'' ? length : -1;
}

base::Result<Token> Lexer::literal_text(Token out, int prefix) {
  bool raw = false, bytes = false;
  for (; prefix > 0; --prefix) {
    const char c = text_[at_++];
    raw |= c == 'r' || c == 'R';
    bytes |= c == 'b' || c == 'B';
  }
  const std::string_view rest = text_.substr(at_);
  std::string_view quote = rest.substr(0, 1);
  if (rest.starts_with("\"\"\"") || rest.starts_with("'''")) quote = rest.substr(0, 3);
  at_ += quote.size();
  std::string value;
  while (!text_.substr(at_).starts_with(quote)) {
    if (at_ == text_.size() || (quote.size() == 1 && text_[at_] == '\n')) return wrong("a string is not closed");
    if (text_[at_] != '\\' || raw)
      value += text_[at_++];
    else
      TRY_VOID(escape(value, bytes));
  }
  at_ += quote.size();
  out.kind = Kind::kLiteral;
  if (bytes)
    out.value = Bytes{std::move(value)};
  else
    out.value = Value(std::move(value));
  return out;
}

base::Status Lexer::escape(std::string& out, bool bytes) {
  const char c = peek(1);
  at_ += 2;
  static constexpr std::string_view kPlain = "abfnrtv\\'\"`?", kMeant = "\a\b\f\n\r\t\v\\'\"`?";
  if (const std::size_t found = kPlain.find(c); c != '\0' && found != std::string_view::npos) {
    out += kMeant[found];
    return {};
  }
  const bool octal = c >= '0' && c <= '3';
  const int digits = c == 'x' || c == 'X' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : octal ? 3 : 0;
  if (octal) --at_;
  std::uint32_t point = 0;
  const std::string_view number = text_.substr(std::min(at_, text_.size()), static_cast<std::size_t>(digits));
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), point, octal ? 8 : 16);
  if (digits == 0 || error != std::errc{} || end != number.data() + digits || point > 0x10ffff)
    return wrong("a bad escape");
  at_ += static_cast<std::size_t>(digits);
  if (bytes && digits < 4)
    out += static_cast<char>(point);
  else
    append_utf8(out, point);
  return {};
}

base::Result<Token> Lexer::number(Token out) {
  std::size_t end = at_;
  const bool hex = text_.substr(at_).starts_with("0x") || text_.substr(at_).starts_with("0X");
  bool fraction = false;
  if (hex) end += 2;
  while (end < text_.size()) {
    const char c = text_[end];
    const bool exponent = !hex && (c == 'e' || c == 'E');
    const bool dot = !hex && c == '.' && end + 1 < text_.size() && is_digit(text_[end + 1]);
    if (!is_digit(c) && !exponent && !dot && !(hex && std::isxdigit(static_cast<unsigned char>(c)))) break;
    fraction |= exponent || dot;
    ++end;
    if (exponent && end < text_.size() && (text_[end] == '+' || text_[end] == '-')) ++end;
  }
  const std::string digits(text_.substr(at_, end - at_));
  out.kind = Kind::kLiteral;
  const bool is_unsigned = end < text_.size() && (text_[end] == 'u' || text_[end] == 'U');
  const char* first = digits.data() + (hex ? 2 : 0);
  const char* last = digits.data() + digits.size();
  if (fraction) {
    char* stop = nullptr;
    out.value = std::strtod(digits.c_str(), &stop);
    if (stop != last || is_unsigned) return wrong("a bad number");
  } else {
    std::uint64_t value = 0;
    const auto [stop, error] = std::from_chars(first, last, value, hex ? 16 : 10);
    if (error != std::errc{} || stop != last) return wrong("a bad number");
    if (is_unsigned) out.value = value;
    // One more than the largest integer is only good behind a minus; the parser turns it there.
    else if (value <= std::uint64_t{1} << 63)
      out.value = static_cast<std::int64_t>(value);
    else
      return wrong("a number is too large");
    if (!is_unsigned && value == std::uint64_t{1} << 63) out.text = "lowest";
  }
  at_ = end + (is_unsigned ? 1 : 0);
  return out;
}

}  // namespace api::cel
