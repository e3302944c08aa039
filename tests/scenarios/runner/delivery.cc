// In which order, and in how many parts, does the scheduler hear of what happens between two cycles?
#include "delivery.h"

#include <algorithm>
#include <iterator>
#include <utility>

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
    // An object keeps its place, and what it is when others were told in between is what is heard of.
    for (auto at = all.begin(); at != end;) {
      const auto part_end = std::find_if(at + 1, end, [&](const Waiting& one) { return one.object.empty(); });
      for (; at != part_end; ++at) {
        if (!at->event) continue;
        Event newest = std::move(at->event);
        for (auto later = at + 1; later != part_end && !at->object.empty(); ++later) {
          if (later->object == at->object) newest = std::exchange(later->event, nullptr);
        }
        TRY_VOID(newest());
      }
    }
    all.erase(all.begin(), end);
    if (all.empty()) watches_.erase(watch);
    if (dice_->chance(0.1)) between();
  }
  return {};
}

}  // namespace scenario
