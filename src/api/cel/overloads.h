// The signatures of operators, functions and methods of schemas' rules, by name.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "api/cel/static_type.h"

namespace api::cel {

// The type of a call with such arguments (of a method the object first), kUnknown for a name without signatures here;
// nothing where no signature takes the arguments. Operators have cel-go's names ("_+_"). Any thread.
std::optional<StaticType> type_of_call(std::string_view name, bool is_method, const std::vector<StaticType>& arguments);

// Whether the evaluator has the function, and the API server does not offer it to rules of schemas.
bool is_beyond_rules(std::string_view function);

}  // namespace api::cel
