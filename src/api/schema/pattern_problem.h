// Why a regular expression that a user wrote does not compile (beside pattern.h, which most of the program includes).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace api {

// As Go's regexp words it: "missing closing ): `a(`". Empty if it compiles.
// `steps` receives the length of what it compiles to.
std::string pattern_problem(std::string_view expression, std::size_t* steps = nullptr);

// The memory that Pattern::small() lets RE2 have for it.
std::int64_t small_pattern_memory(std::string_view expression);
// The same of what Pattern::small() makes of it.
std::string small_pattern_problem(std::string_view expression);

}  // namespace api
