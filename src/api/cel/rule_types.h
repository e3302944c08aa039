// The types of a schema's rule, checked when a definition is written, so that a rule that could never be evaluated is
// refused there and not found by each object.
#pragma once

#include <string>
#include <string_view>

#include "api/schema/structural/structural.h"

namespace api::cel {

// The place of an expression: the schema of `self` and of `oldSelf`.
struct RuleScope {
  const Structural& self;
  bool is_root = false;            // `self` is the whole object
  bool optional_old_self = false;  // `oldSelf` may be absent
};

enum class RuleResult : bool { kBool, kString };

// Empty, or why the API server refuses the expression, in its words. An expression that cannot be read has no problem
// of types. A part whose type this checker does not know fits everywhere.
std::string type_problem(std::string_view expression, const RuleScope& scope, RuleResult wanted);

}  // namespace api::cel
