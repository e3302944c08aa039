// A look at both clocks each minute.
#include "rt/clock_steps.h"

#include <utility>

#include "rt/loop/loop.h"

namespace rt {

struct ClockSteps::State : std::enable_shared_from_this<State> {
  State(Env& of, std::function<void()> call)
      : env(of), then(std::move(call)), began(of.now()), uptime_then(of.uptime()) {}

  Env& env;
  std::function<void()> then;
  base::Time began;
  base::Duration uptime_then;
  Loop::TimerId timer = 0;

  void look_later() {
    timer = env.loop().after(kLook, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->look();
    });
  }

  void look() {
    const base::Time now = env.now();
    const base::Duration uptime = env.uptime();
    const base::Duration moved = (now - began) - (uptime - uptime_then);
    began = now;
    uptime_then = uptime;
    look_later();
    if (moved > kStep || moved < base::Duration{} - kStep) then();  // which may end this
  }
};

ClockSteps::ClockSteps(Env& env, std::function<void()> then) : state_(std::make_shared<State>(env, std::move(then))) {
  state_->look_later();
}

ClockSteps::~ClockSteps() { state_->env.loop().cancel(state_->timer); }

}  // namespace rt
