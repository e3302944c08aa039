// What is an action? One step of a cycle, run in the configured order.
#pragma once

#include "scheduler/framework/arguments.h"

namespace scheduler {

class Session;

class Action {
 public:
  virtual ~Action() = default;
  // Once per configuration.
  virtual void configure(const Arguments&) {}
  virtual void run(Session& session) = 0;
};

}  // namespace scheduler
