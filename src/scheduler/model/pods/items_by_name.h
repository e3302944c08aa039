// Which items of a list have a name? Also where both the list and the names that are asked for are many.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "api/json/json.h"

namespace scheduler {

// Containers, or their statuses, by their names. The list outlives it.
class ItemsByName {
 public:
  explicit ItemsByName(const api::Json& list) : items_(list.items()) {
    if (items_.size() <= kFew) return;
    sorted_.reserve(items_.size());
    for (std::size_t i = 0; i < items_.size(); ++i) sorted_.emplace_back(name_of(i), i);
    std::sort(sorted_.begin(), sorted_.end());
  }
  // In the order of the list.
  template <class Visit>
  void each(std::string_view name, const Visit& visit) const {
    for (std::size_t i = 0; items_.size() <= kFew && i < items_.size(); ++i) {
      if (name_of(i) == name) visit(i, items_[i]);
    }
    auto at = std::lower_bound(sorted_.begin(), sorted_.end(), std::pair(name, std::size_t{0}));
    for (; at != sorted_.end() && at->first == name; ++at) visit(at->second, items_[at->second]);
  }

 private:
  static constexpr std::size_t kFew = 8;
  std::string_view name_of(std::size_t i) const { return items_[i]["name"].as_string(); }

  std::span<const api::Json> items_;
  std::vector<std::pair<std::string_view, std::size_t>> sorted_;  // of many
};

}  // namespace scheduler
