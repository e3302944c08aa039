// Pauses that grow, by a clock that may be set back.
#pragma once

#include <algorithm>

#include "base/time.h"

namespace controllers {

// A time in a status that is further ahead than this was written by a clock that was wrong.
inline constexpr base::Duration kClockErrorMax = base::hours(1);

// The rest at `now` of a pause until `end` that lasts `longest` at most. A longer rest means that the clock has been
// set back since the pause began, nobody knows how far: it is over.
inline base::Duration pause_left(base::Time end, base::Time now, base::Duration longest) {
  const base::Duration left = end - now;
  return left > longest ? base::Duration{} : std::max(left, base::Duration{});
}

// `first`, twice as long with each of `tries` after the first, up to `longest`.
inline base::Duration doubled(base::Duration first, int tries, base::Duration longest) {
  for (int i = 1; i < tries && first < longest; ++i) first = first * 2;
  return std::min(first, longest);
}

}  // namespace controllers
