// Before a pod is bound: how do its claims get their volumes?
//
// A chosen volume is marked for its claim; a claim to be provisioned is told its node. Then the claims' own controllers
// work, and the pod waits until every claim is bound.
#pragma once

#include <cstddef>
#include <cstdint>

#include "scheduler/effects/step.h"
#include "scheduler/session/plan.h"

namespace scheduler {

class VolumeSteps {
 public:
  // Done at once when the pod has nothing to wait for.
  Step begin(const PlannedBind& plan, const StepContext& context);
  Step next(const PlannedBind& plan, Reply answer, const StepContext& context);

 private:
  enum class At : std::uint8_t { kRead, kMark, kAwait };
  Step read(const PlannedBind& plan) const;

  At at_ = At::kRead;
  std::size_t next_ = 0;  // of the plan's volumes
  base::Duration deadline_{};
};

}  // namespace scheduler
