// Does the loop of a program still turn?
#include "rt/loop_pulse.h"

#include <memory>
#include <mutex>
#include <optional>

namespace rt {
namespace {

struct Pulse {
  std::mutex mutex;
  std::optional<base::Duration> asked;  // when, of what has not come back
};

}  // namespace

std::function<bool()> loop_pulse(Env& env, base::Duration still_max) {
  return [&env, still_max, pulse = std::make_shared<Pulse>()] {
    const std::lock_guard lock(pulse->mutex);
    const base::Duration now = env.uptime();
    if (pulse->asked) return now - *pulse->asked > still_max;
    pulse->asked = now;
    env.loop().post([pulse] {
      const std::lock_guard inner(pulse->mutex);
      pulse->asked.reset();
    });
    return false;
  };
}

}  // namespace rt
