// Lifecycle policies: the first rule that matches wins, the task's before the job's.
#include "controllers/job/request.h"

#include <algorithm>

namespace controllers::job {

namespace {

bool matches(const Policy& policy, const Request& request) {
  if (!policy.events.empty() && !request.event.empty()) {
    const bool listed = std::any_of(policy.events.begin(), policy.events.end(),
                                    [&](const std::string& event) { return event == request.event || event == "*"; });
    // A pending pod is news only if it stays pending: without a timeout every new pod would match. One of nothing says
    // so.
    if (listed && (request.event != "PodPending" || policy.timeout)) return true;
  }
  return policy.exit_code && *policy.exit_code == request.exit_code;
}

const Policy* first_match(const std::vector<Policy>& policies, const Request& request) {
  for (const Policy& policy : policies)
    if (matches(policy, request)) return &policy;
  return nullptr;
}

}  // namespace

Verdict evaluate(const Job& job, const Request& request) {
  if (!request.action.empty()) return {request.action, {}};
  if (request.event == "OutOfSync" || request.event == "CommandIssued" || request.event == "PodRunning")
    return {"SyncJob", {}};
  if (request.version < job.version) return {"SyncJob", {}};
  const Policy* policy = nullptr;
  if (!request.task.empty())
    if (const Task* task = job.find_task(request.task)) policy = first_match(task->policies, request);
  if (!policy) policy = first_match(job.policies, request);
  if (!policy) return {"SyncJob", {}};
  return {policy->action, policy->timeout.value_or(base::Duration{})};
}

bool spends_attempt(const Request& request) {
  const std::string& event = request.event.empty() ? request.cause : request.event;
  return !request.from_command && !request.disrupted && event != "PodEvicted" && event != "Unknown";
}

ActionClass class_of(std::string_view action) {
  if (action == "AbortJob" || action == "RestartJob" || action == "TerminateJob" || action == "CompleteJob" ||
      action == "ResumeJob")
    return ActionClass::kJob;
  if (action == "RestartTask") return ActionClass::kTask;
  if (action == "RestartPod") return ActionClass::kPod;
  if (action == "RestartPartition") return ActionClass::kPartition;
  return ActionClass::kNone;
}

}  // namespace controllers::job
