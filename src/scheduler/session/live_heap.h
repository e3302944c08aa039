// In which order do things come out that change places while they wait?
#pragma once

#include <utility>
#include <vector>

namespace scheduler {

// Go's container/heap over a live comparison: only the paths that a push or pop walks are compared again.
template <class Item, class Less>
class LiveHeap {
 public:
  explicit LiveHeap(Less less) : less_(std::move(less)) {}
  bool empty() const { return items_.empty(); }
  const std::vector<Item>& items() const { return items_; }  // in no particular order
  std::size_t size() const { return items_.size(); }
  void push(Item item) {
    items_.push_back(std::move(item));
    for (std::size_t i = items_.size() - 1; i > 0;) {
      const std::size_t parent = (i - 1) / 2;
      if (!less_(items_[i], items_[parent])) break;
      std::swap(items_[i], items_[parent]);
      i = parent;
    }
  }
  Item pop() {
    std::swap(items_.front(), items_.back());
    Item out = std::move(items_.back());
    items_.pop_back();
    for (std::size_t i = 0;;) {
      std::size_t child = 2 * i + 1;
      if (child >= items_.size()) break;
      if (child + 1 < items_.size() && less_(items_[child + 1], items_[child])) ++child;
      if (!less_(items_[child], items_[i])) break;
      std::swap(items_[i], items_[child]);
      i = child;
    }
    return out;
  }

 private:
  std::vector<Item> items_;
  Less less_;
};

}  // namespace scheduler
