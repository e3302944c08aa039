// The numbers and the verdicts of a Job's status.
#include "controllers/job/status.h"

#include <utility>

#include "controllers/framework/counts.h"

namespace controllers::job {

using api::Json;

void Counts::add(const std::string& task, std::string_view pod_phase) {
  std::string_view known = pod_phase.empty() ? "Pending" : pod_phase;
  if (known == "Pending")
    ++pending;
  else if (known == "Running")
    ++running;
  else if (known == "Succeeded")
    ++succeeded;
  else if (known == "Failed")
    ++failed;
  else {
    ++unknown;
    known = "Unknown";
  }
  ++by_task[task][std::string(known)];
}

namespace {

// Some task has fewer successes than its own minimum.
bool task_fell_short(const Job& job, const Counts& counts) {
  for (const Task& task : job.tasks) {
    if (!task.min_available) continue;
    const auto seen = counts.by_task.find(task.name);
    if (seen == counts.by_task.end()) continue;
    const auto succeeded = seen->second.find("Succeeded");
    if ((succeeded == seen->second.end() ? 0 : succeeded->second) < *task.min_available) return true;
  }
  return false;
}

Phase judge_running(const Job& job, const Counts& counts) {
  const std::int64_t total = job.replicas_total();
  if (total == 0) return job.phase;
  if (job.min_success && counts.succeeded >= *job.min_success) return Phase::kCompleted;
  if (counts.succeeded + counts.failed == total) {
    std::int64_t minimum = 0;
    for (const Task& task : job.tasks) minimum += task.min_available.value_or(task.replicas);
    if (job.min_available >= minimum && task_fell_short(job, counts)) return Phase::kFailed;
    if (job.min_success) return Phase::kFailed;  // fewer than that succeeded
    return counts.succeeded >= job.min_available ? Phase::kCompleted : Phase::kFailed;
  }
  if (counts.pending > total - job.min_available) return Phase::kPending;
  return job.phase;
}

Phase judge_restarting(const Job& job, const Counts& counts) {
  if (job.retry_count >= job.max_retry) return Phase::kFailed;
  const std::int64_t min_available = job.object["status"]["minAvailable"].as_int();
  return job.replicas_total() - counts.terminating >= min_available ? Phase::kPending : job.phase;
}

}  // namespace

Phase judge(Rule rule, const Job& job, const Counts& counts) {
  const bool nothing_runs = counts.terminating == 0 && counts.pending == 0 && counts.running == 0;
  switch (rule) {
    case Rule::kNone: return job.phase;
    case Rule::kP:
      return job.min_available <= counts.running + counts.succeeded + counts.failed ? Phase::kRunning : Phase::kPending;
    case Rule::kR: return judge_running(job, counts);
    case Rule::kS: return judge_restarting(job, counts);
    case Rule::kA: return nothing_runs ? Phase::kAborted : job.phase;
    case Rule::kC: return nothing_runs ? Phase::kCompleted : job.phase;
    case Rule::kT: return nothing_runs ? Phase::kTerminated : job.phase;
  }
  return job.phase;
}

Json with_edit(const Json& old_status, const StatusEdit& edit) {
  Json status = old_status.is_object() ? old_status : Json::object();
  const auto put = [&status](std::string_view key, std::int64_t value) {
    if (value != 0)
      status.set(key, fit_count(value));
    else
      status.erase(key);
  };
  put("pending", edit.counts.pending);
  put("running", edit.counts.running);
  put("succeeded", edit.counts.succeeded);
  put("failed", edit.counts.failed);
  put("terminating", edit.counts.terminating);
  put("unknown", edit.counts.unknown);
  put("version", edit.version);
  put("retryCount", edit.retry_count);
  put("minAvailable", edit.min_available);
  status.erase("taskStatusCount");
  if (!edit.counts.by_task.empty()) {
    Json tasks = Json::object();
    for (const auto& [task, phases] : edit.counts.by_task) {
      Json counts = Json::object();
      for (const auto& [phase, count] : phases) counts.set(phase, count);
      tasks.set(task, Json::object({{"phase", std::move(counts)}}));
    }
    status.set("taskStatusCount", std::move(tasks));
  }
  if (edit.controlled_resources.empty())
    status.erase("controlledResources");
  else
    status.set("controlledResources", edit.controlled_resources);
  status.erase("runningDuration");
  Json& state = status.edit("state");
  state.set("phase", name_of(edit.phase));
  // COMPAT(state-message): Volcano has the field and never writes it.
  for (const auto& [field, text] : {std::pair{"message", &edit.message}, std::pair{"reason", &edit.reason}})
    if (text->empty())
      state.erase(field);
    else
      state.set(field, *text);
  return status;
}

bool differ_in_counts_only(const Json& before, const Json& after) {
  const auto without_counts = [](Json status) {
    if (status.has("state")) status.edit("state").erase("message");  // changes as they do
    for (const char* field : {"pending", "running", "succeeded", "failed", "terminating", "unknown", "taskStatusCount"})
      status.erase(field);
    return status;
  };
  return without_counts(before) == without_counts(after);
}

void stamp(Json& status, Phase phase, base::Time now) {
  const std::string time = base::format_rfc3339(now);
  status.edit("state").set("lastTransitionTime", time);
  Json conditions = Json::array();
  for (const Json& condition : status["conditions"].items())
    if (condition["status"].as_string() != name_of(phase)) conditions.push_back(condition);
  conditions.push_back(Json::object({{"status", name_of(phase)}, {"lastTransitionTime", time}}));
  status.set("conditions", std::move(conditions));
}

}  // namespace controllers::job
