// Ranges, steps and lists of indexes.
#include "api/array_indexes.h"

#include <set>

#include "base/format.h"
#include "base/number.h"
#include "base/split.h"

namespace api {

namespace {

constexpr std::int64_t kIndexMax = 1'000'000'000;

base::Error wrong(std::string_view text, std::string_view part) {
  return base::make_error(
      base::Code::kInvalid,
      base::format("array {:?}: {:?} is not an index, a range such as 1-50, or a range with a step such "
                   "as 0-6:2, and no limit such as %4",
                   text, part));
}

struct Range {
  std::int64_t first = 0, last = 0, step = 1;
};

bool parse_range(std::string_view part, Range& range) {
  const auto number = [](std::string_view digits, std::int64_t& out) {
    const auto read = base::parse_number<std::int64_t>(digits);
    if (!read || *read < 0 || *read > kIndexMax) return false;
    out = *read;
    return true;
  };
  if (const std::size_t colon = part.find(':'); colon != std::string_view::npos) {
    if (!number(part.substr(colon + 1), range.step) || range.step == 0) return false;
    part = part.substr(0, colon);
    if (part.find('-') == std::string_view::npos) return false;
  }
  const std::size_t dash = part.find('-');
  if (!number(part.substr(0, dash), range.first)) return false;
  range.last = range.first;
  return dash == std::string_view::npos || (number(part.substr(dash + 1), range.last) && range.last >= range.first);
}

}  // namespace

base::Result<ArrayIndexes> parse_array(std::string_view text) {
  ArrayIndexes out;
  std::string_view list = text;
  if (const std::size_t percent = list.find('%'); percent != std::string_view::npos) {
    const auto limit = base::parse_number<std::int64_t>(list.substr(percent + 1));
    if (!limit || *limit <= 0) return wrong(text, list.substr(percent));
    out.at_once = *limit;
    list = list.substr(0, percent);
  }
  std::set<std::int64_t> seen;
  for (const std::string_view part : base::split(list, ',')) {
    Range range;
    if (!parse_range(part, range)) return wrong(text, part);
    for (std::int64_t index = range.first; index <= range.last; index += range.step) {
      if (out.indexes.size() == ArrayIndexes::kMax)
        return base::make_error(base::Code::kInvalid,
                                base::format("array {:?} has more than {} indexes", text, ArrayIndexes::kMax));
      if (seen.insert(index).second) out.indexes.push_back(index);
    }
  }
  if (out.indexes.empty()) return wrong(text, list);
  return out;
}

}  // namespace api
