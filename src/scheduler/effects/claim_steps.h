// Before a pod is bound: how do its resource claims get their devices and its name?
//
// Each claim is read, and its allocation and the reservation for the pod are written to its status together, unless
// somebody else was faster; then the pod is not bound and is looked at again.
#pragma once

#include <cstddef>
#include <cstdint>

#include "scheduler/effects/step.h"
#include "scheduler/session/plan.h"

namespace scheduler {

class ClaimSteps {
 public:
  // Done at once when the pod has no claims.
  Step begin(const PlannedBind& plan) const;
  Step next(const PlannedBind& plan, const base::Result<api::Json>& answer);

 private:
  enum class At : std::uint8_t { kRead, kProtect, kReserve };
  Step protect(const PlannedBind& plan, const api::Json& claim);
  Step reserve(const PlannedBind& plan, const api::Json& claim);
  Step proceed(const PlannedBind& plan);

  At at_ = At::kRead;
  std::size_t next_ = 0;  // of the plan's claims
  int conflicts_ = 0;     // with other writers of this claim
};

// The pod was not bound: takes its reservation back. The cleaner after pods finds what this misses.
client::Request claim_release_request(const PlannedBind& plan, const PlannedClaim& claim);

}  // namespace scheduler
