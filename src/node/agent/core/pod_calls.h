// Blocking calls for pods, in their turn: one that hangs holds up its own pod, and nothing else of the node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "rt/env.h"

namespace node {

// Each call has a thread of its own. A few run at a time, so that a machine that is busy is not asked for more; one
// that takes long is not counted among them any more. Pods take turns, and those whose calls take long come last.
// Pods that have begun come before those that begin: of a hundred that come together, some run soon, and few are half
// made. Every fourth turn is that of the pod that waits the longest.
class PodCalls {
 public:
  enum class Part : std::uint8_t { kBegins, kGoesOn };
  // `all_max`: as many threads at most.
  PodCalls(rt::Env& env, std::size_t all_max);
  ~PodCalls();
  PodCalls(const PodCalls&) = delete;
  PodCalls& operator=(const PodCalls&) = delete;

  // As Env::offload(). Loop thread only.
  void run(const std::string& uid, rt::Task work, rt::Task done, Part part = Part::kGoesOn);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace node
