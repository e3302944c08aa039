// Lists in the order of keys.
#include <algorithm>
#include <bit>
#include <numeric>

#include "api/cel/syntax.h"

namespace api::cel {

Value sorted_by(const std::vector<Value>& items, const std::vector<Value>& keys, std::uint64_t& cost) {
  std::uint64_t bytes = 0;
  for (const Value& key : keys) {
    // One that cannot be compared with the first, or with itself (NaN), has no place in the order.
    if (!compare(key, keys.front()) || !compare(key, key)) return no_overload("sort");
    if (const auto* text = key.get<std::string>()) bytes += text->size();
    if (const auto* data = key.get<Bytes>()) bytes += data->data.size();
  }
  cost += (keys.size() + bytes / 10) * static_cast<std::uint64_t>(std::bit_width(keys.size()));
  if (cost > kWorkMax) return exhausted();
  std::vector<std::size_t> order(items.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return compare(keys[a], keys[b]).value_or(0) < 0; });
  List out;
  for (const std::size_t at : order) out.push_back(items[at]);
  return out;
}

}  // namespace api::cel
