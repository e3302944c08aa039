// In which order, and in how many parts, does the scheduler hear of what happens between two cycles?
#include "delivery.h"

#include <algorithm>
#include <iterator>

namespace scenario {

base::Status Delivery::add(const std::string& watch, std::string object, std::string after, Event event) {
  if (!dice_) return event();
  watches_[watch].push_back({std::move(object), std::move(after), std::move(event)});
  return {};
}

bool Delivery::is_waiting(const std::string& object) const {
  return std::any_of(watches_.begin(), watches_.end(), [&](const auto& watch) {
    return std::any_of(watch.second.begin(), watch.second.end(),
                       [&](const Waiting& one) { return one.object == object; });
  });
}

base::Status Delivery::deliver(const std::function<void()>& between) {
  while (!watches_.empty()) {
    const auto watch = std::next(watches_.begin(), static_cast<std::ptrdiff_t>(dice_->below(watches_.size())));
    std::vector<Waiting>& all = watch->second;
    auto end = all.begin() + static_cast<std::ptrdiff_t>(1 + dice_->below(std::min<std::size_t>(all.size(), 8)));
    end =
        std::find_if(all.begin(), end, [&](const Waiting& one) { return !one.after.empty() && is_waiting(one.after); });
    for (auto at = all.begin(); at != end; ++at) {
      const bool is_replaced = !at->object.empty() && std::any_of(at + 1, end, [&](const Waiting& later) {
        return later.object == at->object;
      });
      if (!is_replaced) TRY_VOID(at->event());
    }
    all.erase(all.begin(), end);
    if (all.empty()) watches_.erase(watch);
    if (dice_->chance(0.1)) between();
  }
  return {};
}

}  // namespace scenario
