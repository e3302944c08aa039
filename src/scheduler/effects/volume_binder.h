// Before a pod is bound: how do its claims get their volumes?
//
// A chosen volume is marked for its claim; a claim to be provisioned is told its node. Then the claims' own controllers
// work, and the pod waits until every claim is bound.
#pragma once

#include <functional>
#include <memory>

#include "base/result.h"
#include "client/client.h"
#include "rt/env.h"
#include "scheduler/session/plan.h"

namespace scheduler {

class VolumeBinder {
 public:
  VolumeBinder(client::Client& client, rt::Env& env);
  ~VolumeBinder();
  // Calls `done` once, on the loop; at once when the pod has nothing to wait for.
  void bind(const PlannedBind& plan, std::function<void(base::Status)> done);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace scheduler
