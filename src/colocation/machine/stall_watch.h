// Tells at once when tasks of the machine stand still for lack of memory, processors or disks, where the kernel can
// tell (pressure stall information).
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "rt/env.h"

namespace colocation {

class StallWatch {
 public:
  // `on_stall` is called on the loop of `env` with "memory", "cpu" or "io".
  StallWatch(rt::Env& env, std::string pressure_folder, std::function<void(const std::string&)> on_stall);
  ~StallWatch();
  StallWatch(const StallWatch&) = delete;
  StallWatch& operator=(const StallWatch&) = delete;

  // Whether the kernel tells of at least one.
  bool works() const;

 private:
  struct State;
  void wait();

  std::shared_ptr<State> state_;
  std::unique_ptr<rt::Worker> worker_;
};

}  // namespace colocation
