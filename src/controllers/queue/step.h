// What a Queue needs next, given an action.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "controllers/framework/controller.h"
#include "controllers/framework/plan.h"

namespace controllers::queue {

inline constexpr std::string_view kClosedByParent = "volcano.sh/closed-by-parent";

struct Observed {
  const api::Json* queue = nullptr;
  const api::Json* parent = nullptr;                  // null: no such queue
  std::vector<const api::Json*> children;             // whose spec.parent this is
  std::int64_t group_count = 0;                       // PodGroups of any phase in this queue
  std::map<std::string, std::int64_t> by_phase = {};  // the same by phase, for the status counters
};

struct Decision {
  Plan plan;
  // Actions for other queues, to be taken once the plan has succeeded: name and action.
  std::vector<std::pair<std::string, std::string>> follow;
};

// `action` is OpenQueue, CloseQueue, SyncQueue, or any other word (a sync).
// Counters of groups may have to wait (turn.counts_wait); states never do.
Decision step(const Observed& seen, std::string_view action, const Turn& turn = {});

}  // namespace controllers::queue
