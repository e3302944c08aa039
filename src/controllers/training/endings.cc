// Removals of pods, services and the job itself, and the statuses that go with them.
#include "controllers/training/endings.h"

#include <map>

#include "api/meta/resource.h"
#include "base/format.h"
#include "controllers/training/companions.h"
#include "controllers/training/framework.h"
#include "controllers/training/mpi_objects.h"
#include "controllers/training/pods_by_type.h"

namespace controllers::training {

using api::Json;

namespace {

// The pods that run or never began, each with the service of its name.
void remove_running(const Observed& seen, Output& out) {
  const TrainingJob& job = seen.reading->job;
  std::map<std::string_view, const Json*> services;
  for (const Json* service : seen.services) services[api::name_of(*service)] = service;
  for (const Json* pod : seen.pods) {
    if (job.framework->launcher_is_a_job && is_launcher(*pod)) continue;
    const std::string_view phase = pod_phase(*pod);
    if (phase != "Running" && phase != "Pending" && !phase.empty()) continue;
    out.remove_pod(*pod);
    if (const auto service = services.find(api::name_of(*pod)); service != services.end())
      out.remove_service(*service->second);
  }
}

void remove_by_policy(const Observed& seen, bool failed_at_limit, Output& out) {
  const TrainingJob& job = seen.reading->job;
  const bool all = job.clean_pod_policy == "All" || (failed_at_limit && !job.framework->launcher_is_a_job);
  if (failed_at_limit && !all) remove_after_limit(seen, out);
  if (!all && job.clean_pod_policy == "Running") remove_running(seen, out);
  if (!all) return;
  for (const Json* pod : seen.pods)
    if (!job.framework->launcher_is_a_job || !is_launcher(*pod)) out.remove_pod(*pod);
  if (!job.framework->has_services) return;
  for (const Json* service : seen.services) out.remove_service(*service);
}

void end_time_to_live(const Observed& seen, const JobStatus& status, base::Time now, Output& out) {
  const TrainingJob& job = seen.reading->job;
  if (!job.time_to_live) return;
  const auto completed = base::parse_rfc3339(status.fields["completionTime"].as_string());
  if (!completed) return;
  const base::Duration left = *completed + *job.time_to_live - now;
  if (left > base::Duration{}) return out.plan().requeue_after(left);
  out.plan().begin_stage();
  if (job.framework->launcher_is_a_job) {
    // The time to live is the launcher's; a Job ends by itself.
    for (const Json* pod : seen.pods)
      if (is_launcher(*pod)) out.remove_pod(*pod);
    return;
  }
  Action& action = out.plan().remove(job.framework->resource, seen.reading->document);
  action.success_reason = job.framework->deletion_reason;
  action.success_text = base::format("Deleted job: {}", job.name);
  out.count("training_operator_jobs_deleted_total");
}

}  // namespace

void remove_all(const Observed& seen, Output& out) {
  for (const Json* pod : seen.pods) out.remove_pod(*pod);
  if (!seen.reading->job.framework->has_services) return;
  for (const Json* service : seen.services) out.remove_service(*service);
}

void remove_after_limit(const Observed& seen, Output& out) {
  if (!seen.reading->job.framework->launcher_is_a_job) return remove_all(seen, out);
  // As a Job leaves it: what failed can be read, what runs is ended.
  for (const Json* pod : seen.pods)
    if (is_launcher(*pod) && pod_phase(*pod) != "Failed") out.remove_pod(*pod);
}

void clean_up(const Observed& seen, const Options& options, JobStatus status, bool failed_at_limit, const Turn& turn,
              Output& out) {
  const TrainingJob& job = seen.reading->job;
  remove_by_policy(seen, failed_at_limit, out);
  if (const Json* group = keeps_group(job) ? nullptr : seen.group;
      group && job.owns(*group) && !api::is_deleting(*group)) {
    out.event("Normal", "JobTerminated", "Job has been terminated. Deleting PodGroup");
    remove_group(seen, options, out);
  }
  remove_autoscaler(seen, out);
  status = with_active_as_succeeded(std::move(status));
  // COMPAT(training-completion-time): whoever failed it, it ended some time.
  if (!status.fields.has("completionTime")) status.fields.set("completionTime", base::format_rfc3339(turn.now));
  write_status(*seen.reading, status, turn, out);
  end_time_to_live(seen, status, turn.now, out);
}

void suspend(const Observed& seen, const Options& options, JobStatus status, const Turn& turn, Output& out) {
  const TrainingJob& job = seen.reading->job;
  remove_all(seen, out);
  remove_group(seen, options, out);
  remove_autoscaler(seen, out);
  suspend_launcher_job(seen, true, out);
  const Json counted = status.fields["replicaStatuses"];
  for (const Json::Member& member : counted.members())
    status.fields.edit("replicaStatuses").edit(member.name()).erase("active");
  const std::string reason = base::format("{}Suspended", job.framework->kind);
  const std::string text = base::format("{} {} is suspended.", job.framework->kind, job.name);
  if (status.conditions.is_true("Running")) status.conditions.set("Running", false, reason, text);
  if (status.conditions.set("Suspended", true, reason, text)) out.event("Normal", reason, text);
  write_status(*seen.reading, status, turn, out);
}

void suspend_launcher_job(const Observed& seen, bool suspend, Output& out) {
  if (!seen.launcher_job || (*seen.launcher_job)["spec"]["suspend"].as_bool() == suspend) return;
  Json patch = Json::array({Json::object({{"op", "add"}, {"path", "/spec/suspend"}, {"value", suspend}})});
  out.plan().patch(kBatchJobs, *seen.launcher_job, client::PatchType::kJson, std::move(patch));
}

std::optional<JobStatus> resume(const Observed& seen, JobStatus status, const Turn& turn, Output& out) {
  if (!seen.pods.empty()) {
    remove_all(seen, out);
    return std::nullopt;
  }
  const TrainingJob& job = seen.reading->job;
  const std::string reason = base::format("{}Resumed", job.framework->kind);
  const std::string text = base::format("{} {} is resumed.", job.framework->kind, job.name);
  status.conditions.set("Suspended", false, reason, text);
  status.fields.set("startTime", base::format_rfc3339(turn.now));
  out.event("Normal", reason, text);
  return status;
}

}  // namespace controllers::training
