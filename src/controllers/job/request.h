// The events of a Job, and the action that its policies answer with.
#pragma once

#include <optional>
#include <string>

#include "base/time.h"
#include "controllers/job/job.h"

namespace controllers::job {

struct Request {
  std::string event;   // api.md 11.1; empty: something else about the group
  std::string action;  // explicit: a command, or a delayed action that is due
  std::string cause;   // the event that a delayed action answers
  std::string task;
  std::string pod;
  std::string pod_uid;
  std::string partition;
  std::int64_t exit_code = 0;
  std::int64_t version = 0;  // of the job, when the pod was made
  base::Time when;           // when it happened; delays count from here
  bool from_command = false;
  bool disrupted = false;  // the pod failed because others took it away: an eviction, a deletion, the loss of its node
};

struct Verdict {
  std::string action;
  base::Duration delay;
};

Verdict evaluate(const Job& job, const Request& request);

// Whether a restart that answers it spends an attempt. COMPAT(attempts): failures do, and nothing else.
bool spends_attempt(const Request& request);

// Which delayed actions an action that ran makes pointless.
enum class ActionClass : std::uint8_t { kNone, kJob, kTask, kPod, kPartition };
ActionClass class_of(std::string_view action);

}  // namespace controllers::job
