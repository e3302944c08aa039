// The lists of matchers that choose equal label sets.
#include "scheduler/model/pods/matcher_lists.h"

#include <utility>

namespace scheduler {

std::uint32_t MatcherLists::number_of(std::vector<std::uint32_t> matchers) {
  const bool is_reused = !free_.empty();
  const std::uint32_t number = is_reused ? free_.back() : static_cast<std::uint32_t>(lists_.size());
  const auto [found, added] = numbers_.emplace(std::move(matchers), number);
  if (!added) return found->second;
  if (is_reused)
    free_.pop_back();
  else
    lists_.emplace_back();
  lists_[number] = {&found->first, 0};
  return number;
}

std::uint32_t MatcherLists::enter(std::vector<std::uint32_t> matchers) {
  const std::uint32_t number = number_of(std::move(matchers));
  if (number != 0) ++lists_[number].label_sets;
  return number;
}

void MatcherLists::leave(std::uint32_t number) {
  if (number != 0 && --lists_[number].label_sets == 0) maybe_unused_.push_back(number);
}

std::uint32_t MatcherLists::give_back() {
  std::uint32_t ended = 0;
  for (const std::uint32_t number : maybe_unused_) {
    List& list = lists_[number];
    if (list.matchers == nullptr || list.label_sets > 0) continue;
    numbers_.erase(numbers_.find(*list.matchers));
    list = {};
    free_.push_back(number);
    ++ended;
  }
  maybe_unused_.clear();
  return ended;
}

}  // namespace scheduler
