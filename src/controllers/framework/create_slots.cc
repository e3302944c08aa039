// Which plan's creations go next, where the plans together want more of them at a time than may be under way?
#include "controllers/framework/create_slots.h"

#include <algorithm>
#include <utility>

namespace controllers {
namespace {

constexpr int kOldestEvery = 8;

}  // namespace

bool CreateSlots::take(PlanNumber plan, std::size_t left, std::function<void()> go_on) {
  // While some wait, a free slot is for the one that is called.
  if (free_ > 0 && (waiting_.empty() || plan == called_)) {
    --free_;
    called_ = 0;
    return true;
  }
  if (!closed_) waiting_.insert_or_assign(plan, Waiting{left, std::move(go_on)});
  return false;
}

CreateSlots::Waits::iterator CreateSlots::first() {
  if (++slots_given_ % kOldestEvery == 0) return waiting_.begin();
  return std::min_element(waiting_.begin(), waiting_.end(),
                          [](const auto& a, const auto& b) { return a.second.left < b.second.left; });
}

void CreateSlots::give_back() {
  ++free_;
  // A waiter that is called may have ended in the meantime, and takes none.
  while (free_ > 0 && !waiting_.empty()) {
    const auto next = first();
    const std::function<void()> go_on = std::move(next->second.go_on);
    called_ = next->first;
    waiting_.erase(next);
    go_on();
  }
  called_ = 0;
}

void CreateSlots::close() {
  closed_ = true;
  const Waits let_go = std::exchange(waiting_, {});
}

}  // namespace controllers
