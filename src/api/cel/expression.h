// A compiled expression of the Common Expression Language (CEL), as Kubernetes uses it in device selectors and
// validation rules.
// Names of messages ("Object", "JSONPatch") are declared like variables.
//
// Evaluated on a tree whose types rule_types.h checks where a schema is known: literals, operators, macros with one and
// two variables, optional values, functions on strings, lists, maps, and those of Kubernetes (quantity, semver, ip,
// cidr, url, format, image, regex, authorizer), messages that stand for parts of objects. Not there: user-defined
// types. Work is bounded by a cost that grows with what is touched.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
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
class Patterns;

// Immutable; may be evaluated by several threads at once.
class Expression {
 public:
  // Reads the text; `variables` are the names that may stand free in it. Errors name the position.
  // `patterns`: of all expressions that belong to it; null: it stands alone.
  static base::Result<Expression> compile(std::string_view text, const std::vector<std::string>& variables,
                                          Patterns* patterns = nullptr);

  using Bindings = std::vector<std::pair<std::string_view, Value>>;
  // The value, or an error value; the work ends in an error once it costs more than `cost_max` (of kCostMax at most).
  // `spent` receives the cost; more than `cost_max` where it was not enough.
  Value evaluate(const Bindings& bindings, std::uint64_t cost_max = kCostMax, std::uint64_t* spent = nullptr) const;
  const std::string& text() const { return text_; }

  // The parts of a variable that the text reads: fields, as in "variables.x", or more than that.
  struct Uses {
    std::set<std::string, std::less<>> fields;
    bool otherwise = false;
  };
  Uses uses_of(std::string_view variable) const;

  // The type of the value where the text alone says it ("bool", "list(string)", "Object.spec"); "dyn" where it is for
  // certain only known from the object, empty where this reader cannot tell. `fields` are those of "variables".
  using Types = std::map<std::string, std::string, std::less<>>;
  std::string type(const Types& fields) const;

 private:
  std::string text_;
  std::shared_ptr<const std::vector<Node>> nodes_;
  std::uint32_t root_ = 0;
};

}  // namespace api::cel
