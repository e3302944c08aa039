// Blocking calls for pods, in their turn: one that hangs holds up its own pod, and nothing else of the node.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "rt/env.h"

namespace node {

// Each call has a thread of its own. A few run at a time, so that a machine that is busy is not asked for more; one
// that takes long is not counted among them any more. Pods take turns, and those whose calls take long come last.
class PodCalls {
 public:
  // `all_max`: as many threads at most.
  PodCalls(rt::Env& env, std::size_t all_max);
  ~PodCalls();
  PodCalls(const PodCalls&) = delete;
  PodCalls& operator=(const PodCalls&) = delete;

  // As Env::offload(). Loop thread only.
  void run(const std::string& uid, rt::Task work, rt::Task done);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace node
