// Why a regular expression that a user wrote does not compile (beside pattern.h, which most of the program includes).
#pragma once

#include <string>
#include <string_view>

namespace api {

// As Go's regexp words it: "missing closing ): `a(`". Empty if it compiles.
std::string pattern_problem(std::string_view expression);

}  // namespace api
