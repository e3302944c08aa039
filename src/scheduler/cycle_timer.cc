// When does the next cycle run?
#include "scheduler/cycle_timer.h"

#include <algorithm>
#include <utility>

namespace scheduler {
namespace {

// Events that come together are decided on together; short enough that nobody notices.
constexpr base::Duration kGatherTime = base::milliseconds(2);

}  // namespace

void CycleTimer::start() {
  running_ = true;
  request();
}

void CycleTimer::request() {
  if (!running_ || requested_) return;
  requested_ = true;
  if (period_timer_ != 0) env_.loop().cancel(std::exchange(period_timer_, 0));
  env_.loop().after(gathers_ ? std::max(kGatherTime, last_cycle_) : base::Duration{},
                    guard_.while_alive([this] { run_now(); }));
}

void CycleTimer::run_now() {
  requested_ = false;
  run_();
}

void CycleTimer::request_after(base::Duration wait) {
  if (period_timer_ != 0) return;
  period_timer_ = env_.loop().after(wait, guard_.while_alive([this] {
    period_timer_ = 0;
    request();
  }));
}

void CycleTimer::set_arrival(std::optional<base::Time> due, base::Duration wait_max) {
  if (arrival_timer_ != 0) env_.loop().cancel(std::exchange(arrival_timer_, 0));
  if (!due) return;
  // A clock that jumps does not put it off for ever.
  arrival_timer_ = env_.loop().after(std::min(until(*due), wait_max), guard_.while_alive([this] {
    arrival_timer_ = 0;
    request();
  }));
}

void CycleTimer::set_turn(std::optional<base::Time> due) {
  if (!running_ || requested_ || (turn_timer_ != 0 && due == turn_due_)) return;
  if (turn_timer_ != 0) env_.loop().cancel(std::exchange(turn_timer_, 0));
  if (!due) return;
  turn_due_ = due;
  turn_timer_ = env_.loop().after(until(*due), guard_.while_alive([this] {
    turn_timer_ = 0;
    request();
  }));
}

base::Duration CycleTimer::until(base::Time due) const { return {std::max<std::int64_t>(due.ns - env_.now().ns, 0)}; }

}  // namespace scheduler
