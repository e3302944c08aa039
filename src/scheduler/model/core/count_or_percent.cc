// A number of pods as an annotation gives it: a count, or a percentage of all.
#include "scheduler/model/core/count_or_percent.h"

#include <algorithm>

#include "base/number.h"

namespace scheduler {

std::optional<CountOrPercent> count_or_percent_from(std::string_view text) {
  constexpr std::int64_t kMax = 1'000'000'000;  // more pods than there are; its percentage of them has room
  CountOrPercent out;
  if (text.starts_with('+')) text.remove_prefix(1);
  if (text.ends_with('%')) {
    out.is_percent = true;
    text.remove_suffix(1);
  }
  const auto number = base::parse_number<std::int64_t>(text);
  if (!number || *number < 0 || text.starts_with('-')) return std::nullopt;
  out.number = std::min(*number, kMax);
  return out;
}

}  // namespace scheduler
