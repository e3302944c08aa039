// An action: One step of a cycle, run in the configured order.
#pragma once

#include "scheduler/framework/arguments.h"

namespace scheduler {

class Session;

class Action {
 public:
  virtual ~Action() = default;
  // Once per configuration. Volcano's cache of refusals is accepted: columns answer as fast, and never with an old
  // answer.
  virtual void configure(const Arguments& arguments) { (void)arguments.get_bool("predicateErrorCacheEnable", true); }
  virtual void run(Session& session) = 0;
};

}  // namespace scheduler
