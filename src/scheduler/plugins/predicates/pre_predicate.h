// The message for a pod that is refused before any node is looked at.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "scheduler/framework/votes.h"

namespace scheduler {

// `plugin` is the one of Kubernetes whose PreFilter refuses the pod.
inline Refusal refuse_before_nodes(std::string_view plugin, std::string why) {
  return {.reason = "PrePredicate",
          .message = base::format("plugin {} pre-predicates failed {}", plugin, why),
          .why = std::move(why)};
}

}  // namespace scheduler
