// Was the wall clock set, or did the machine sleep? Timers count uptime, so what is due at a time of day comes late
// then.
#pragma once

#include <functional>
#include <memory>

#include "base/time.h"
#include "rt/env.h"

namespace rt {

// Calls `then` within a minute after the wall clock has moved against the uptime by more than kStep. Lives and is
// destroyed on the loop of `env`.
class ClockSteps {
 public:
  static constexpr base::Duration kLook = base::minutes(1);
  static constexpr base::Duration kStep = base::seconds(10);  // a clock that is slewed moves less in that time

  ClockSteps(Env& env, std::function<void()> then);
  ~ClockSteps();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace rt
