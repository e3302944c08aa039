// Has enough been found wrong with one object? Only the first hundred are told (pipeline/request/bounds.h), and an
// object of a megabyte may have a million things wrong with it.
#pragma once

#include <vector>

#include "api/json/problems.h"
#include "base/result.h"

namespace apiserver {

// Some say the same, and are told as one.
inline constexpr std::size_t kCausesKept = 10 * api::kProblemsMax;

inline bool has_enough_causes(const std::vector<base::Cause>& causes) { return causes.size() >= kCausesKept; }

}  // namespace apiserver
