// In which order do things come out whose places do not change while they wait?
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "scheduler/session/live_heap.h"

namespace scheduler {

// The items that are there when the first is taken are sorted once; what comes later waits in a heap of its own, and
// the better of the two fronts is next. `less` orders any two items (no ties) and always in the same way while both are
// here.
template <class Item, class Less>
class FixedOrder {
 public:
  explicit FixedOrder(Less less) : less_(less), late_(less) {}
  bool empty() const { return next_ == early_.size() && late_.empty(); }
  void push(Item item) {
    if (taking_) {
      late_.push(std::move(item));
    } else {
      early_.push_back(std::move(item));
    }
  }
  Item pop() {
    if (!taking_) {
      taking_ = true;
      std::sort(early_.begin(), early_.end(), less_);
    }
    const bool is_early = next_ < early_.size() && (late_.empty() || less_(early_[next_], late_.items().front()));
    return is_early ? early_[next_++] : late_.pop();
  }
  // The item that comes `count` items after the next one, if nothing comes late; null: not known.
  const Item* after(std::size_t count) const {
    return taking_ && next_ + count < early_.size() ? &early_[next_ + count] : nullptr;
  }

 private:
  Less less_;
  std::vector<Item> early_;
  std::size_t next_ = 0;  // of early_
  bool taking_ = false;
  LiveHeap<Item, Less> late_;
};

}  // namespace scheduler
