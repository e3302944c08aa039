// Sets of numbers as ranges.
#include <algorithm>

#include "base/format.h"
#include "controllers/workloads/batch_job.h"

namespace controllers::workloads {

namespace {

constexpr std::int64_t kNumberMax = 1'000'000'000'000;

std::optional<std::int64_t> read_number(std::string_view text) {
  if (text.empty() || text.size() > 12) return std::nullopt;
  std::int64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  return value < kNumberMax ? std::optional(value) : std::nullopt;
}

}  // namespace

std::optional<NumberSet> NumberSet::parse(std::string_view text) {
  NumberSet numbers;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view part = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    const std::size_t dash = part.find('-');
    const auto first = read_number(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : read_number(part.substr(dash + 1));
    if (!first || !last || *last < *first) return std::nullopt;
    if (!numbers.ranges_.empty() && *first <= numbers.highest()) return std::nullopt;
    if (!numbers.ranges_.empty() && *first == numbers.highest() + 1)
      numbers.ranges_.rbegin()->second = *last;
    else
      numbers.ranges_[*first] = *last;
  }
  return numbers;
}

bool NumberSet::has(std::int64_t number) const {
  auto after = ranges_.upper_bound(number);
  return after != ranges_.begin() && (--after)->second >= number;
}

std::int64_t NumberSet::first_absent(std::int64_t from) const {
  auto after = ranges_.upper_bound(from);
  if (after == ranges_.begin() || (--after)->second < from) return from;
  while (after != ranges_.end() && after->first <= from) from = (after++)->second + 1;
  return from;
}

void NumberSet::add(std::int64_t number) {
  if (has(number)) return;
  std::int64_t first = number, last = number;
  if (const auto next = ranges_.find(number + 1); next != ranges_.end()) {
    last = next->second;
    ranges_.erase(next);
  }
  if (auto before = ranges_.lower_bound(number); before != ranges_.begin() && (--before)->second == number - 1) {
    first = before->first;
    ranges_.erase(before);
  }
  ranges_[first] = last;
}

std::int64_t NumberSet::count() const {
  std::int64_t sum = 0;
  for (const auto& [first, last] : ranges_) sum += last - first + 1;
  return sum;
}

std::int64_t NumberSet::count_common(const NumberSet& other) const {
  std::int64_t sum = 0;
  auto mine = ranges_.begin();
  for (const auto& [first, last] : other.ranges_) {
    while (mine != ranges_.end() && mine->second < first) ++mine;
    for (auto at = mine; at != ranges_.end() && at->first <= last; ++at)
      sum += std::min(at->second, last) - std::max(at->first, first) + 1;
  }
  return sum;
}

std::int64_t NumberSet::highest() const { return ranges_.empty() ? -1 : ranges_.rbegin()->second; }

NumberSet NumberSet::below(std::int64_t limit) const {
  NumberSet kept;
  for (const auto& [first, last] : ranges_)
    if (first < limit) kept.ranges_[first] = std::min(last, limit - 1);
  return kept;
}

std::string NumberSet::text() const {
  std::string text;
  for (const auto& [first, last] : ranges_) {
    text += text.empty() ? "" : ",";
    if (first == last)
      text += std::to_string(first);
    else
      text += base::format("{}{}{}", first, last == first + 1 ? "," : "-", last);
  }
  return text;
}

}  // namespace controllers::workloads
