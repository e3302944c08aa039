// The rows of the state machine.
#include "controllers/job/state.h"

namespace controllers::job {

namespace {

bool is_targeted(std::string_view action) {
  return action == "RestartTask" || action == "RestartPod" || action == "RestartPartition";
}

bool is_end(std::string_view action) {
  return action == "AbortJob" || action == "TerminateJob" || action == "CompleteJob";
}

Move active(std::string_view action, Rule rule) {
  if (action == "RestartJob") return {Operation::kKillAll, Rule::kNone, Phase::kRestarting, true};
  if (is_targeted(action)) return {Operation::kKillTarget, Rule::kNone, Phase::kRestarting, true};
  if (action == "AbortJob") return {Operation::kKillSoft, Rule::kNone, Phase::kAborting};
  if (action == "TerminateJob") return {Operation::kKillSoft, Rule::kNone, Phase::kTerminating};
  if (action == "CompleteJob") return {Operation::kKillSoft, Rule::kNone, Phase::kCompleting};
  return {Operation::kSync, rule};
}

}  // namespace

Move move_for(Phase phase, std::string_view action, bool commanded) {
  const bool resume = action == "ResumeJob";
  const Move resumed{Operation::kKillSoft, Rule::kNone, Phase::kRestarting};
  switch (phase) {
    case Phase::kNone:
    case Phase::kPending: return active(action, Rule::kP);
    case Phase::kRunning: return active(action, Rule::kR);
    case Phase::kRestarting:
      // COMPAT(end-of-a-restart): policies are not heard, for the pods that a restart kills would fire them.
      if (commanded && is_end(action)) return active(action, Rule::kNone);
      if (is_targeted(action)) return {Operation::kKillTarget, Rule::kS};
      return {action == "SyncJob" ? Operation::kSync : Operation::kKillAll, Rule::kS};
    case Phase::kAborting: return resume ? resumed : Move{Operation::kKillSoft, Rule::kA};
    case Phase::kAborted: return resume ? resumed : Move{Operation::kKillSoft, Rule::kNone};
    case Phase::kCompleting: return {Operation::kKillSoft, Rule::kC};
    case Phase::kTerminating: return {Operation::kKillSoft, Rule::kT};
    case Phase::kFailed:
    case Phase::kTerminated:
      // COMPAT(failed-jobs-run-again)
      if (commanded && (resume || action == "RestartJob"))
        return {Operation::kKillAll, Rule::kNone, Phase::kRestarting};
      return {Operation::kKillSoft, Rule::kNone};
    case Phase::kCompleted: return {Operation::kKillSoft, Rule::kNone};
  }
  return {};
}

}  // namespace controllers::job
