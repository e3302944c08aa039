// Which of the known names did somebody mean who wrote another one?
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace base {

// The known name that differs from `name` in case, hyphens and underscores alone; empty: there is none, or several.
std::string_view other_spelling(std::string_view name, std::span<const std::string_view> known);

// The known name that is at most two letters (one of a short name) away from `name`; empty: there is none. Case,
// hyphens and underscores do not count. The first of equals.
std::string_view closest_name(std::string_view name, std::span<const std::string_view> known);

// "; did you mean NAME?" with the closest one, for the end of a message; empty where there is none.
std::string hint_at_name(std::string_view name, std::span<const std::string_view> known);

}  // namespace base
