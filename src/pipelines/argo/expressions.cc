// One parser of boolean expressions; the two languages differ in what stands between the operators.
#include "pipelines/argo/expressions.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "api/schema/pattern.h"
#include "base/format.h"

namespace pipelines::argo {

using base::Code;

namespace {

constexpr int kDepthMax = 64;

base::Error wrong(std::string why) { return base::make_error(Code::kInvalid, std::move(why)); }

// Tokens, and the grammar of ||, &&, ! and parentheses over what `leaf` reads.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) { advance(); }

  struct Token {
    enum class Kind : std::uint8_t { kEnd, kWord, kQuoted, kSign, kBroken };
    Kind kind = Kind::kEnd;
    std::string text = {};
  };

  const Token& token() const { return token_; }
  bool is_sign(std::string_view sign) const { return token_.kind == Token::Kind::kSign && token_.text == sign; }
  bool take(std::string_view sign) {
    if (!is_sign(sign)) return false;
    advance();
    return true;
  }
  Token take() {
    Token out = std::move(token_);
    advance();
    return out;
  }

  // Both sides of an operator are always read, so that a mistake is found whatever the values are.
  template <class Leaf>
  base::Result<bool> whole(const Leaf& leaf) {
    TRY(const bool value, any(leaf, 0));
    if (token_.kind != Token::Kind::kEnd) return unexpected();
    return value;
  }

  base::Error unexpected() const {
    if (token_.kind == Token::Kind::kEnd) return wrong("it ends too early");
    if (token_.kind == Token::Kind::kBroken) return wrong(token_.text);
    return wrong(base::format("{:?} is not expected", token_.text.substr(0, 60)));
  }

 private:
  template <class Leaf>
  base::Result<bool> any(const Leaf& leaf, int depth) {
    TRY(bool value, all(leaf, depth));
    while (take("||")) {
      TRY(const bool right, all(leaf, depth));
      value = value || right;
    }
    return value;
  }
  template <class Leaf>
  base::Result<bool> all(const Leaf& leaf, int depth) {
    TRY(bool value, one(leaf, depth));
    while (take("&&")) {
      TRY(const bool right, one(leaf, depth));
      value = value && right;
    }
    return value;
  }
  template <class Leaf>
  base::Result<bool> one(const Leaf& leaf, int depth) {
    if (depth > kDepthMax) return wrong(base::format("it is nested deeper than {}", kDepthMax));
    if (take("!")) {
      TRY(const bool value, one(leaf, depth + 1));
      return !value;
    }
    if (!take("(")) return leaf(*this);
    TRY(const bool value, any(leaf, depth + 1));
    if (!take(")")) return unexpected();
    return value;
  }

  static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.' || c == '+' || c == '/' || c == ':' || static_cast<unsigned char>(c) >= 0x80;
  }

  void advance() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r'))
      ++at_;
    if (at_ == text_.size()) return set(Token::Kind::kEnd, {});
    const char c = text_[at_];
    if (c == '"' || c == '\'') return quoted(c);
    if (is_word(c)) {
      const std::size_t begin = at_;
      while (at_ < text_.size() && is_word(text_[at_])) ++at_;
      return set(Token::Kind::kWord, std::string(text_.substr(begin, at_ - begin)));
    }
    for (const std::string_view sign : {"&&", "||", "==", "!=", "=~", "!~", "<=", ">=", "<", ">", "!", "(", ")", ","}) {
      if (!text_.substr(at_).starts_with(sign)) continue;
      at_ += sign.size();
      return set(Token::Kind::kSign, std::string(sign));
    }
    set(Token::Kind::kBroken, base::format("{:?} is not an operator that is supported here", text_.substr(at_, 8)));
  }

  void quoted(char quote) {
    std::string value;
    for (++at_; at_ < text_.size() && text_[at_] != quote; ++at_) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      value += text_[at_];
    }
    if (at_ == text_.size()) return set(Token::Kind::kBroken, "a quote is not closed");
    ++at_;
    set(Token::Kind::kQuoted, std::move(value));
  }

  void set(Token::Kind kind, std::string text) { token_ = {kind, std::move(text)}; }

  std::string_view text_;
  std::size_t at_ = 0;
  Token token_;
};

using Token = Reader::Token;

bool is_value(const Token& token) { return token.kind == Token::Kind::kWord || token.kind == Token::Kind::kQuoted; }

std::optional<double> number_of(const Token& token) {
  if (token.kind != Token::Kind::kWord) return std::nullopt;
  double out = 0;
  const auto [end, error] = std::from_chars(token.text.data(), token.text.data() + token.text.size(), out);
  if (error != std::errc() || end != token.text.data() + token.text.size()) return std::nullopt;
  return out;
}

int compare(const Token& left, const Token& right) {
  const auto a = number_of(left), b = number_of(right);
  if (a && b) return *a < *b ? -1 : *a > *b ? 1 : 0;
  const int order = left.text.compare(right.text);
  return order < 0 ? -1 : order > 0 ? 1 : 0;
}

bool answers(std::string_view sign, int order) {
  if (sign == "==") return order == 0;
  if (sign == "!=") return order != 0;
  if (sign == "<") return order < 0;
  if (sign == "<=") return order <= 0;
  return sign == ">" ? order > 0 : order >= 0;
}

base::Result<bool> is_among(Reader& reader, const Token& left) {
  if (!reader.take("(")) return reader.unexpected();
  bool found = false;
  do {
    if (!is_value(reader.token())) return reader.unexpected();
    found = compare(left, reader.take()) == 0 || found;
  } while (reader.take(","));
  if (!reader.take(")")) return reader.unexpected();
  return found;
}

// The operator before it is taken.
base::Result<bool> is_match(Reader& reader, const Token& left) {
  if (!is_value(reader.token())) return reader.unexpected();
  const Token right = reader.take();
  const api::Pattern pattern = api::Pattern::small(right.text);
  if (!pattern.is_valid()) return wrong(base::format("{:?} is not a regular expression", right.text.substr(0, 60)));
  return pattern.matches(left.text);
}

base::Result<bool> comparison(Reader& reader) {
  if (!is_value(reader.token())) return reader.unexpected();
  const Token left = reader.take();
  if (reader.token().kind == Token::Kind::kWord && reader.token().text == "in") {
    reader.take();
    return is_among(reader, left);
  }
  if (reader.take("=~")) return is_match(reader, left);
  if (reader.take("!~")) {
    TRY(const bool matches, is_match(reader, left));
    return !matches;
  }
  if (reader.token().kind == Token::Kind::kBroken) return reader.unexpected();
  for (const std::string_view sign : {"==", "!=", "<=", ">=", "<", ">"}) {
    if (!reader.take(sign)) continue;
    if (!is_value(reader.token())) return reader.unexpected();
    return answers(sign, compare(left, reader.take()));
  }
  if (left.text == "true" || left.text == "false") return left.text == "true";
  return wrong(base::format("{:?} is neither true nor false", left.text.substr(0, 60)));
}

base::Status check_size(std::string_view text) {
  if (text.size() <= kExpressionBytesMax) return {};
  return wrong(base::format("it has more than {} bytes", kExpressionBytesMax));
}

}  // namespace

base::Result<bool> holds(std::string_view when) {
  TRY_VOID(check_size(when));
  return Reader(when).whole(comparison);
}

base::Result<bool> holds(std::string_view depends, const std::function<bool(const TaskResult&)>& is) {
  TRY_VOID(check_size(depends));
  return Reader(depends).whole([&](Reader& reader) -> base::Result<bool> {
    if (reader.token().kind != Token::Kind::kWord) return reader.unexpected();
    const std::string word = reader.take().text;
    const std::size_t dot = word.rfind('.');
    TaskResult wanted{word.substr(0, dot), dot == std::string::npos ? "" : word.substr(dot + 1)};
    if (dot != std::string::npos && std::ranges::find(kTaskResults, wanted.result) == std::end(kTaskResults))
      return wrong(base::format("{:?} is not a result of a task", wanted.result.substr(0, 60)));
    return is(wanted);
  });
}

base::Result<std::vector<TaskResult>> results_in(std::string_view depends) {
  std::vector<TaskResult> found;
  const auto value = holds(depends, [&](const TaskResult& one) {
    found.push_back(one);
    return true;
  });
  if (!value.ok()) return base::Error(value.error());
  return found;
}

}  // namespace pipelines::argo
