// Virtual time: one queue of callbacks for all the loops of a world. No code here sleeps; time jumps to the next
// callback.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "base/time.h"
#include "rt/loop/loop.h"

namespace sim {

// The owner of a callback, so that a crash can drop all of one process at once.
using Owner = std::uint64_t;

// One thread only. Callbacks due at the same instant run in the order in which they were added.
class Clock {
 public:
  explicit Clock(base::Time start) : start_(start), now_(start) {}

  base::Time now() const { return now_; }
  base::Duration elapsed() const { return now_ - start_; }
  Owner make_owner() { return next_owner_++; }

  // Runs `task` when `delay` has passed (now, if not positive). Never returns 0. A dropped `owner` gets no callback.
  std::uint64_t add(Owner owner, base::Duration delay, rt::Task task);
  void cancel(std::uint64_t id);
  // Forgets every callback of `owner`, also those to come.
  void drop(Owner owner);

  // Runs the next callback; false if there is none, or none due before `until`, in which case time moves to `until`.
  bool step(base::Time until);
  std::uint64_t steps() const { return steps_; }

 private:
  struct Entry {
    Owner owner;
    rt::Task task;
  };
  using Key = std::pair<base::Time, std::uint64_t>;

  base::Time start_;
  base::Time now_;
  std::map<Key, Entry> queue_;
  std::unordered_map<std::uint64_t, base::Time> due_;  // by id; never walked
  std::uint64_t next_id_ = 1;
  Owner next_owner_ = 1;
  std::set<Owner> dropped_;
  std::uint64_t steps_ = 0;
};

}  // namespace sim
