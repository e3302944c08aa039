// How long does each callback hold a loop, and is one holding it now? The users of a loop wait for its longest
// callback, so a server tells of them.
#pragma once

#include <functional>
#include <memory>

#include "rt/env.h"

namespace rt {

class WatchedEnv : public RealEnv {
 public:
  // How long the callback that runs now has held the loop; zero between callbacks. Any thread.
  virtual base::Duration held() const = 0;
};

// `env` with its loop watched. `on_callback` is told on the loop, after each callback, how long it took.
std::unique_ptr<WatchedEnv> watch_loop(std::unique_ptr<RealEnv> env, std::function<void(base::Duration)> on_callback);

}  // namespace rt
