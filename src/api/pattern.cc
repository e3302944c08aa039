// Does a text contain a match of a regular expression that a user wrote?
#include "api/pattern.h"

#include <re2/re2.h>

namespace api {

struct Pattern::Compiled {
  explicit Compiled(std::string_view text) : expression(re2::StringPiece(text.data(), text.size()), RE2::Quiet) {}
  RE2 expression;
};

Pattern::Pattern(std::string_view expression) : compiled_(std::make_unique<Compiled>(expression)) {}
Pattern::Pattern(Pattern&&) noexcept = default;
Pattern& Pattern::operator=(Pattern&&) noexcept = default;
Pattern::~Pattern() = default;

bool Pattern::is_valid() const { return compiled_ != nullptr && compiled_->expression.ok(); }

bool Pattern::matches(std::string_view text) const {
  return is_valid() && RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), compiled_->expression);
}

}  // namespace api
