// Before a pod is bound: how do its resource claims get their devices and its name?
//
// Each claim is read, and its allocation and the reservation for the pod are written to its status together, unless
// somebody else was faster; then the pod is not bound and is looked at again.
#pragma once

#include <functional>
#include <memory>

#include "base/result.h"
#include "client/client.h"
#include "scheduler/session/plan.h"

namespace scheduler {

class ClaimBinder {
 public:
  explicit ClaimBinder(client::Client& client);
  // Calls `done` once; at once when the pod has no claims.
  void bind(const PlannedBind& plan, std::function<void(base::Status)> done);
  // The pod was not bound: takes its reservations back.
  void release(const PlannedBind& plan);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace scheduler
