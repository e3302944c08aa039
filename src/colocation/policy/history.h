// The use by online work in each hour of the week, as counts of how often which share of the node was used; bounded,
// and older weeks fade. From it the use that is likely within the hour. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "colocation/policy/offer.h"

namespace colocation {

class UsageHistory {
 public:
  // A look at what is used, of `whole`. A use above the whole counts as the whole.
  void add(base::Time now, const NodeAmounts& used, const NodeAmounts& whole);
  // In `percent` of all looks at this hour of the week and the next one no more was used; zero amounts: too few looks.
  NodeAmounts foreseen(base::Time now, int percent, const NodeAmounts& whole) const;

  // A text for the next start. One that is damaged is refused whole.
  std::string text() const;
  bool read(std::string_view text);

 private:
  static constexpr std::size_t kHours = 168, kSteps = 32;
  using Counts = std::array<std::uint16_t, kSteps>;

  std::array<Counts, kHours> cpu_ = {}, memory_ = {};
};

}  // namespace colocation
