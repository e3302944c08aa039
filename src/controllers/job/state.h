// The state machine: what an action does in each phase (controllers.md 3.6).
#pragma once

#include <string_view>

#include "controllers/job/job.h"
#include "controllers/job/status.h"

namespace controllers::job {

enum class Operation : std::uint8_t { kSync, kKillAll, kKillSoft, kKillTarget };

//   Pending <-> Running -> Completed | Failed          by counting pods (rules P, R)
//   Pending, Running -> Restarting -> Pending | Failed  by Restart... (rule S)
//   Pending, Running -> Aborting -> Aborted             by AbortJob (rule A); ResumeJob leads back to Restarting
//   Restarting -> Aborting, Completing or Terminating   the same, if somebody commands it
//   Pending, Running -> Completing -> Completed         by CompleteJob (rule C)
//   Pending, Running -> Terminating -> Terminated       by TerminateJob (rule T)
struct Move {
  Operation operation = Operation::kSync;
  Rule rule = Rule::kNone;     // judges the fresh counts, unless `enter` says where to go
  Phase enter = Phase::kNone;  // kNone: the rule decides
  bool is_attempt = false;     // one of spec.maxRetry, if a failure is its reason

  bool operator==(const Move&) const = default;
};

// `commanded`: by a Command, not by a policy.
Move move_for(Phase phase, std::string_view action, bool commanded = false);

}  // namespace controllers::job
