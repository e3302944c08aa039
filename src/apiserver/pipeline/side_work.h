// Long work off the loop, a few pieces at a time: more would only take the processor from the loop and the commits.
#pragma once

#include <memory>

#include "rt/env.h"

namespace apiserver {

// Loop thread only.
class SideWork {
 public:
  explicit SideWork(rt::Env& env);
  ~SideWork();

  // Like Env::offload(), when its turn comes.
  void run(rt::Task work, rt::Task done);
  std::size_t waiting() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace apiserver
