// Does a text contain a match of a regular expression that a user wrote?
#include "api/schema/pattern.h"

#include <re2/re2.h>

#include <cstdint>

#include "api/schema/go_regexp.h"
#include "api/schema/pattern_problem.h"
#include "base/format.h"
#include "base/utf8.h"

namespace api {

struct Pattern::Compiled {
  Compiled(std::string_view text, const RE2::Options& options) : expression(re2_syntax(text), options) {}
  RE2 expression;
};

Pattern::Pattern(std::unique_ptr<Compiled> compiled) : compiled_(std::move(compiled)) {}
Pattern::Pattern(std::string_view expression) : Pattern(std::make_unique<Compiled>(expression, RE2::Quiet)) {}

namespace {

constexpr std::size_t kSmallBytesMax = 4096;

RE2::Options small_options(std::string_view expression) {
  RE2::Options options(RE2::Quiet);
  options.set_max_mem(small_pattern_memory(expression));
  return options;
}

}  // namespace

std::int64_t small_pattern_memory(std::string_view expression) {
  // RE2 gives a sixth of it to the program, of 8 bytes an instruction: 680, and 2.7 for each byte of the text.
  static constexpr std::size_t kLeastBytes = std::size_t{32} << 10, kBytesEach = 128;
  return static_cast<std::int64_t>(kLeastBytes + kBytesEach * expression.size());
}

Pattern Pattern::small(std::string_view expression) {
  if (expression.size() > kSmallBytesMax) return Pattern(std::unique_ptr<Compiled>());
  return Pattern(std::make_unique<Compiled>(expression, small_options(expression)));
}

Pattern::Pattern(Pattern&&) noexcept = default;
Pattern& Pattern::operator=(Pattern&&) noexcept = default;
Pattern::~Pattern() = default;

bool Pattern::is_valid() const { return compiled_ != nullptr && compiled_->expression.ok(); }

bool Pattern::matches(std::string_view text) const {
  return is_valid() && RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), compiled_->expression);
}

namespace {

std::string problem_of(const RE2& compiled) {
  if (compiled.ok()) return {};
  const auto why = [&compiled]() -> std::string_view {
    switch (compiled.error_code()) {
      case RE2::ErrorBadEscape: return "invalid escape sequence";
      case RE2::ErrorBadCharClass: return "invalid character class";
      case RE2::ErrorBadCharRange: return "invalid character class range";
      case RE2::ErrorMissingBracket: return "missing closing ]";
      case RE2::ErrorMissingParen: return "missing closing )";
      case RE2::ErrorUnexpectedParen: return "unexpected )";
      case RE2::ErrorTrailingBackslash: return "trailing backslash at end of expression";
      case RE2::ErrorRepeatArgument: return "missing argument to repetition operator";
      case RE2::ErrorRepeatSize: return "invalid repeat count";
      case RE2::ErrorRepeatOp: return "invalid nested repetition operator";
      case RE2::ErrorBadPerlOp: return "invalid or unsupported Perl syntax";
      case RE2::ErrorBadUTF8: return "invalid UTF-8";
      case RE2::ErrorBadNamedCapture: return "invalid named capture";
      default: return "expression too large";
    }
  };
  return base::format("{}: `{}`", why(), compiled.error_arg());
}

}  // namespace

std::string pattern_problem(std::string_view expression, std::size_t* steps) {
  const RE2 compiled(re2_syntax(expression), RE2::Quiet);
  if (compiled.ok() && steps != nullptr) *steps = static_cast<std::size_t>(compiled.ProgramSize());
  return problem_of(compiled);
}

std::string small_pattern_problem(std::string_view expression) {
  const auto too_large = [&] { return base::format("expression too large: `{}`", base::utf8_prefix(expression, 100)); };
  if (expression.size() > kSmallBytesMax) return too_large();
  const RE2 compiled(re2_syntax(expression), small_options(expression));
  return compiled.error_code() == RE2::ErrorPatternTooLarge ? too_large() : problem_of(compiled);
}

}  // namespace api
