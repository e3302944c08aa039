// When does the next cycle run?
//
// A request starts a cycle soon: events that come together are decided on together. The timers of periods, of groups
// that lack pods, and of single pods whose pause ends become requests. Loop thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "base/time.h"
#include "rt/env.h"
#include "rt/loop/guard.h"

namespace scheduler {

class CycleTimer {
 public:
  // `gathers`: a request waits a little for others. Environment and guard outlive the timer; `run` runs while the
  // guard's owner lives.
  CycleTimer(rt::Env& env, const rt::Guard& guard, bool gathers, std::function<void()> run)
      : env_(env), guard_(guard), gathers_(gathers), run_(std::move(run)) {}

  // Requests before it are lost. Asks for the first cycle.
  void start();
  bool is_running() const { return running_; }
  void request();
  // A request after a while, unless one comes before.
  void request_after(base::Duration wait);
  // A request when a group that lacks pods has waited long enough, at most `wait_max` from now; unset: none has to.
  void set_arrival(std::optional<base::Time> due, base::Duration wait_max);
  // A request when the pause of a single pod ends; unset: none has one.
  void set_turn(std::optional<base::Time> due);
  // The next cycle comes at least so long after the request for it.
  void gather_for(base::Duration took) { last_cycle_ = took; }

 private:
  void run_now();
  base::Duration until(base::Time due) const;

  rt::Env& env_;
  const rt::Guard& guard_;
  const bool gathers_;
  std::function<void()> run_;
  bool running_ = false;
  bool requested_ = false;
  base::Duration last_cycle_{};
  rt::Loop::TimerId period_timer_ = 0;
  rt::Loop::TimerId arrival_timer_ = 0;
  rt::Loop::TimerId turn_timer_ = 0;
  std::optional<base::Time> turn_due_;
};

}  // namespace scheduler
