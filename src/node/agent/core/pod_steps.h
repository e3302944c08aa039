// The request for another look at a pod, as all parts of the agent make it.
#pragma once

#include <string>

#include "base/time.h"

namespace node {

// Loop thread only. A pod that is gone by then is left alone.
class PodSteps {
 public:
  // Plans the pod anew and carries the plan out. `uid` lies in nothing that an action changes.
  virtual void step(const std::string& uid) = 0;
  virtual void step_after(const std::string& uid, base::Duration delay) = 0;

 protected:
  ~PodSteps() = default;
};

}  // namespace node
