// Which plan's creations go next, where the plans together want more of them at a time than may be under way?
//
// COMPAT(creation-order): a gang can start when the last of its pods is there, so pods of ten jobs that are made in
// turn serve nobody until the end. The plan that has the fewest creations left goes first: its job is whole soonest,
// and what it began is not overtaken by others of its size. Every eighth slot goes to the plan that began first, so
// that a large one never stands still.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>

namespace controllers {

// Loop thread only.
class CreateSlots {
 public:
  using PlanNumber = std::uint64_t;

  explicit CreateSlots(int slots) : free_(slots) {}

  // Larger than all before it.
  PlanNumber next_number() { return ++last_number_; }
  // True: a slot is the plan's until give_back(). False: `go_on` is called, once, when it may ask again; meanwhile the
  // caller is kept by what `go_on` holds. `left` counts the plan's creations that have no slot yet, this one included.
  bool take(PlanNumber plan, std::size_t left, std::function<void()> go_on);
  // The plan wants none any more, or has ended.
  void withdraw(PlanNumber plan) { waiting_.erase(plan); }
  // May call a plan that waits.
  void give_back();
  // No waiter is called any more, and those that wait are let go.
  void close();

 private:
  struct Waiting {
    std::size_t left = 0;
    std::function<void()> go_on;
  };
  using Waits = std::map<PlanNumber, Waiting>;
  Waits::iterator first();

  int free_;
  int slots_given_ = 0;  // to those that waited
  bool closed_ = false;
  PlanNumber called_ = 0;  // the slot that is free is for this plan
  PlanNumber last_number_ = 0;
  Waits waiting_;
};

}  // namespace controllers
