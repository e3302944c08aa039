// A number of pods as an annotation gives it: a count, or a percentage of all.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace scheduler {

struct CountOrPercent {
  std::int64_t number = 0;
  bool is_percent = false;

  // The count out of so many in all; parts of one count as one.
  std::int64_t of(std::int64_t all) const { return is_percent ? (all * number + 99) / 100 : number; }
};

// "2", "+2" or "30%"; nothing for any other text.
std::optional<CountOrPercent> count_or_percent_from(std::string_view text);

}  // namespace scheduler
