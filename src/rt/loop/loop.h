// An event loop: it owns one component's state and runs callbacks to completion, one at a time.
//
// Real loops (rt/asio_loop.cc) run on a thread of their own; in simulation every loop is a queue on one
// virtual clock (sim/). Callbacks due at the same instant run in the order in which they were added.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/time.h"

namespace rt {

using Task = std::function<void()>;

class Loop {
 public:
  using TimerId = std::uint64_t;  // 0 is never a timer

  virtual ~Loop() = default;

  // Runs `task` on the loop's thread, soon. Any thread may call this.
  virtual void post(Task task) = 0;
  // Runs `task` once, `delay` from now (at once if not positive). Loop thread only.
  virtual TimerId after(base::Duration delay, Task task) = 0;
  // A fired or unknown timer is ignored. Loop thread only.
  virtual void cancel(TimerId timer) = 0;
};

}  // namespace rt
