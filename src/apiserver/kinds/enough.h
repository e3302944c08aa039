// Has enough been found wrong with one object? Only the first hundred are told (pipeline/bounds.h), and an object of a
// megabyte may have a million things wrong with it.
#pragma once

#include <vector>

#include "api/json/problems.h"
#include "base/result.h"

namespace apiserver {

// Some say the same, and are told as one.
inline constexpr std::size_t kCausesKept = 10 * api::kProblemsMax;

inline bool is_told_enough(const std::vector<base::Cause>& causes) { return causes.size() >= kCausesKept; }

}  // namespace apiserver
