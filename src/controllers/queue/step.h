// The next step of a Queue, given an action.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "controllers/framework/controller.h"
#include "controllers/framework/plan.h"

namespace controllers::queue {

inline constexpr std::string_view kClosedByParent = "volcano.sh/closed-by-parent";

// The counters of groups in a queue's status, and the phases that they count.
struct Counter {
  const char* field;
  const char* phase;
};
inline constexpr Counter kCounters[] = {{"inqueue", "Inqueue"},
                                        {"pending", "Pending"},
                                        {"running", "Running"},
                                        {"unknown", "Unknown"},
                                        {"completed", "Completed"}};

struct Observed {
  const api::Json* queue = nullptr;
  const api::Json* parent = nullptr;                  // null: no such queue
  std::vector<const api::Json*> children;             // whose spec.parent this is
  std::int64_t group_count = 0;                       // PodGroups of any phase in this queue
  std::map<std::string, std::int64_t> by_phase = {};  // what the counters of its status are to say
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
