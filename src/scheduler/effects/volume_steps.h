// Before a pod is bound: how do its claims get their volumes?
//
// A chosen volume is marked for its claim; a claim to be provisioned is told its node. Both are written only as they
// were read: a volume that somebody else takes meanwhile stays theirs, and the pod is decided anew. Then the claims'
// own controllers work, and the pod waits until every claim is bound, the pod is over, or a claim cannot be bound to
// what was chosen any more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "scheduler/effects/step.h"
#include "scheduler/session/plan.h"

namespace scheduler {

class VolumeSteps {
 public:
  // Done at once when the pod has nothing to wait for.
  Step begin(const PlannedBind& plan, const StepContext& context);
  Step next(const PlannedBind& plan, Reply answer, const StepContext& context);

 private:
  enum class At : std::uint8_t { kRead, kReadVolume, kMark, kAwait, kAwaitVolume };
  Step read(const PlannedBind& plan) const;
  Step choose(const PlannedBind& plan, const api::Json& claim);
  Step take(const PlannedBind& plan, const api::Json& volume);
  Step proceed(const PlannedBind& plan);
  Step read_again(const PlannedBind& plan, const base::Error& error);
  Step await(const PlannedBind& plan, const base::Result<api::Json>& claim, const StepContext& context);
  Step await_volume(const PlannedBind& plan, const base::Result<api::Json>& volume, const StepContext& context);
  Step look_later(const PlannedBind& plan, const StepContext& context);
  std::string waits_for(const PlannedBind& plan) const;

  At at_ = At::kRead;
  std::size_t next_ = 0;   // of the plan's volumes
  std::string claim_uid_;  // of the claim that was read last
  int conflicts_ = 0;
  int looks_ = 0;           // at a claim that is not bound yet
  std::string class_name_;  // of the claim that was looked at last
  base::Duration deadline_{};
};

}  // namespace scheduler
