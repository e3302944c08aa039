// The lists of matchers that choose equal label sets.
//
// Equal lists are one list with one number, the signature of label sets. A list that no label set has any more is given
// back, and its number used again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace scheduler {

class MatcherLists {
 public:
  MatcherLists() { number_of({}); }
  MatcherLists(const MatcherLists&) = delete;
  MatcherLists& operator=(const MatcherLists&) = delete;

  // The matchers of the list, ascending.
  const std::vector<std::uint32_t>& operator[](std::uint32_t number) const { return *lists_[number].matchers; }
  // A label set has this list now, or no longer.
  std::uint32_t enter(std::vector<std::uint32_t> matchers);
  void leave(std::uint32_t number);
  std::size_t maybe_unused() const { return maybe_unused_.size(); }
  // Gives back the lists that no label set has; how many those were.
  std::uint32_t give_back();

 private:
  struct List {
    const std::vector<std::uint32_t>* matchers = nullptr;
    std::uint32_t label_sets = 0;
  };
  std::uint32_t number_of(std::vector<std::uint32_t> matchers);

  std::map<std::vector<std::uint32_t>, std::uint32_t> numbers_;
  std::vector<List> lists_;  // by their numbers; 0 is empty, and stays
  std::vector<std::uint32_t> free_, maybe_unused_;
};

}  // namespace scheduler
