// Counting, and looking ahead.
#include "colocation/policy/history.h"

#include <algorithm>
#include <numeric>

#include "base/format.h"
#include "base/number.h"
#include "base/split.h"

namespace colocation {

namespace {

constexpr std::uint32_t kLooksMin = 60;      // ten minutes of looks each ten seconds
constexpr std::uint32_t kLooksMax = 20'000;  // above it all counts of the hour are halved

std::size_t hour_of_week(base::Time at) {
  constexpr std::int64_t kHour = 3'600'000'000'000;
  const std::int64_t hours = at.ns / kHour % 168;
  return static_cast<std::size_t>(hours < 0 ? hours + 168 : hours);
}

template <class Counts>
std::uint32_t looks(const Counts& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint32_t{0});
}

template <class Counts>
void count(Counts& counts, std::int64_t used, std::int64_t whole) {
  if (whole <= 0) return;
  const double share = std::clamp(static_cast<double>(used) / static_cast<double>(whole), 0.0, 1.0);
  ++counts[std::min<std::size_t>(static_cast<std::size_t>(share * static_cast<double>(counts.size())),
                                 counts.size() - 1)];
  if (looks(counts) > kLooksMax)
    for (auto& one : counts) one /= 2;
}

// The upper end of the step in which the quantile is.
template <class Counts>
std::int64_t quantile(const Counts& counts, int percent, std::int64_t whole) {
  const std::uint32_t all = looks(counts);
  if (all < kLooksMin) return 0;
  std::uint32_t seen = 0;
  for (std::size_t step = 0; step < counts.size(); ++step) {
    seen += counts[step];
    if (std::uint64_t{seen} * 100 >= std::uint64_t{all} * static_cast<std::uint64_t>(percent))
      return static_cast<std::int64_t>(static_cast<double>(whole) * static_cast<double>(step + 1) /
                                       static_cast<double>(counts.size()));
  }
  return whole;
}

}  // namespace

void UsageHistory::add(base::Time now, const NodeAmounts& used, const NodeAmounts& whole) {
  const std::size_t hour = hour_of_week(now);
  count(cpu_[hour], used.cpu_milli, whole.cpu_milli);
  count(memory_[hour], used.memory_bytes, whole.memory_bytes);
}

NodeAmounts UsageHistory::foreseen(base::Time now, int percent, const NodeAmounts& whole) const {
  NodeAmounts most;
  for (const base::Time at : {now, now + base::hours(1)}) {
    const std::size_t hour = hour_of_week(at);
    most.cpu_milli = std::max(most.cpu_milli, quantile(cpu_[hour], percent, whole.cpu_milli));
    most.memory_bytes = std::max(most.memory_bytes, quantile(memory_[hour], percent, whole.memory_bytes));
  }
  return most;
}

std::string UsageHistory::text() const {
  std::string out = "1";
  for (const auto* hours : {&cpu_, &memory_})
    for (const Counts& counts : *hours)
      for (const std::uint16_t one : counts) out += base::format(" {}", one);
  return out;
}

bool UsageHistory::read(std::string_view text) {
  const auto words = base::split(text, ' ');
  if (words.size() != 1 + 2 * kHours * kSteps || words[0] != "1") return false;
  UsageHistory read;
  std::size_t at = 1;
  for (auto* hours : {&read.cpu_, &read.memory_})
    for (Counts& counts : *hours)
      for (std::uint16_t& one : counts) {
        const auto number = base::parse_number<std::uint16_t>(words[at++]);
        if (!number || *number > kLooksMax) return false;
        one = *number;
      }
  *this = read;
  return true;
}

}  // namespace colocation
