// Counts for statuses. Part of what is added up stands in statuses that any client may have written.
#pragma once

#include <algorithm>
#include <cstdint>

namespace controllers {

// Counts are 32 bit numbers on the wire: one that does not fit would have its status refused as long as the cause
// stays.
constexpr std::int64_t fit_count(std::int64_t count) { return std::clamp<std::int64_t>(count, INT32_MIN, INT32_MAX); }

}  // namespace controllers
