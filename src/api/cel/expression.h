// A compiled expression of the Common Expression Language (CEL), as Kubernetes uses it in device selectors and
// validation rules.
//
// Evaluated on a tree without type checking: literals, operators, macros with one and two variables, optional values,
// functions on strings, lists, maps, and those of Kubernetes (quantity, semver, ip, cidr, url, format, image, regex).
// Not there: messages, user-defined types, the authorizer. Work is bounded by a cost that grows with what is touched.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/cel/value.h"
#include "base/result.h"

namespace api::cel {

inline constexpr std::size_t kExpressionBytesMax = 16 * 1024;
inline constexpr std::uint64_t kCostMax = 1'000'000;

struct Node;

// Immutable; may be evaluated by several threads at once.
class Expression {
 public:
  // Reads the text; `variables` are the names that may stand free in it. Errors name the position.
  static base::Result<Expression> compile(std::string_view text, const std::vector<std::string>& variables);

  using Bindings = std::vector<std::pair<std::string_view, Value>>;
  // The value, or an error value; the work ends in an error once it costs more than `cost_max`.
  Value evaluate(const Bindings& bindings, std::uint64_t cost_max = kCostMax) const;
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  std::shared_ptr<const std::vector<Node>> nodes_;
  std::uint32_t root_ = 0;
};

}  // namespace api::cel
