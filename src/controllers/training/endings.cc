// The objects that go when a job has finished, is suspended, or has been there long enough (training.md 7.3, 7.6).
#include "api/meta/resource.h"
#include "base/format.h"
#include "controllers/framework/counts.h"
#include "controllers/training/mpi_objects.h"
#include "controllers/training/training_step.h"

namespace controllers::training {

using api::Json;
namespace resources = api::resources;

void TrainingStep::remove_pod(const Json& pod) {
  if (api::is_deleting(pod)) return;
  decision_.memory.pauses.forget(api::uid_of(pod));
  Action& action = plan().remove(resources::kPods, pod);
  action.success_reason = "SuccessfulDeletePod";
  action.success_text = "Deleted pod: {}";
  action.success_name = api::name_of(pod);
  action.failure_reason = "FailedDeletePod";
  action.failure_text = "Error deleting: {}";
  count("deleted_pods_total");
}

const Json* TrainingStep::service_named(std::string_view name) {
  if (services_.empty())
    for (const Json* service : seen_.services) services_[api::name_of(*service)] = service;
  const auto found = services_.find(name);
  return found == services_.end() ? nullptr : found->second;
}

void TrainingStep::remove_service(const Json& service) {
  if (api::is_deleting(service)) return;
  Action& action = plan().remove(resources::kServices, service);
  action.success_reason = "SuccessfulDeleteService";
  action.success_text = "Deleted service: {}";
  action.success_name = api::name_of(service);
  action.failure_reason = "FailedDeleteService";
  action.failure_text = "Error deleting: {}";
}

void TrainingStep::remove_all() {
  for (const Json* pod : seen_.pods) remove_pod(*pod);
  if (!job_.framework->has_services) return;
  for (const Json* service : seen_.services) remove_service(*service);
}

void TrainingStep::remove_group() {
  const Json* found = group();
  if (!found || !is_ours(*found) || api::is_deleting(*found)) return;
  Action& action = plan().remove(group_resource(options_), *found);
  action.success_reason = "SuccessfulDeletePodGroup";
  action.success_text = base::format("Deleted PodGroup: {}", job_.name);
  action.failure_reason = "FailedDeletePodGroup";
  action.failure_text = "Error deleting: {}";
  count("deleted_pod_groups_total");
}

// A pod that a successful job leaves running is not a failure.
void TrainingStep::count_active_as_succeeded() {
  if (!conditions_.is_true("Succeeded")) return;
  const Json counted = status_["replicaStatuses"];
  for (const Json::Member& member : counted.members()) {
    const std::int64_t active = member.value["active"].as_int();
    if (active <= 0) continue;
    Json& one = status_.edit("replicaStatuses").edit(member.name());
    one.set("succeeded", fit_count(one["succeeded"].as_int() + active));
    one.erase("active");
  }
}

// The remains of a job that failed at a limit, whatever its policy says.
void TrainingStep::remove_after_limit() {
  if (!job_.framework->launcher_is_a_job) return remove_all();
  // As a Job leaves it: what failed can be read, what runs is ended.
  for (const Json* pod : seen_.pods)
    if (is_launcher(*pod) && (*pod)["status"]["phase"].as_string() != "Failed") remove_pod(*pod);
}

void TrainingStep::clean_up() {
  const bool ended_at_limit = has_failed_at_limit();
  const bool all = job_.clean_pod_policy == "All" || (ended_at_limit && !job_.framework->launcher_is_a_job);
  if (ended_at_limit && !all) remove_after_limit();
  if (all || job_.clean_pod_policy == "Running")
    for (const Json* pod : seen_.pods) {
      const std::string_view phase = (*pod)["status"]["phase"].as_string();
      if (job_.framework->launcher_is_a_job && is_launcher(*pod)) continue;
      if (!all && phase != "Running" && phase != "Pending" && !phase.empty()) continue;
      remove_pod(*pod);
      if (all) continue;
      if (const Json* service = service_named(api::name_of(*pod))) remove_service(*service);
    }
  if (all && job_.framework->has_services)
    for (const Json* service : seen_.services) remove_service(*service);
  if (const Json* found = keeps_group() ? nullptr : group(); found && is_ours(*found) && !api::is_deleting(*found)) {
    plan().event(*seen_.job, "Normal", "JobTerminated", "Job has been terminated. Deleting PodGroup");
    remove_group();
  }
  remove_autoscaler();
  count_active_as_succeeded();
  // COMPAT(training-completion-time): whoever failed it, it ended some time.
  if (!status_.has("completionTime")) status_.set("completionTime", base::format_rfc3339(turn_.now));
  write_status();
  end_time_to_live();
}

void TrainingStep::end_time_to_live() {
  if (!job_.time_to_live) return;
  const auto completed = base::parse_rfc3339(status_["completionTime"].as_string());
  if (!completed) return;
  const base::Duration left = *completed + *job_.time_to_live - turn_.now;
  if (left > base::Duration{}) return plan().requeue_after(left);
  plan().begin_stage();
  if (job_.framework->launcher_is_a_job) {
    // The time to live is the launcher's; a Job ends by itself.
    for (const Json* pod : seen_.pods)
      if (is_launcher(*pod)) remove_pod(*pod);
    return;
  }
  Action& action = plan().remove(job_.framework->resource, *seen_.job);
  action.success_reason = job_.framework->deletion_reason;
  action.success_text = base::format("Deleted job: {}", job_.name);
  count("training_operator_jobs_deleted_total");
}

void TrainingStep::suspend() {
  remove_all();
  remove_group();
  remove_autoscaler();
  patch_suspend(true);
  const Json counted = status_["replicaStatuses"];
  for (const Json::Member& member : counted.members())
    status_.edit("replicaStatuses").edit(member.name()).erase("active");
  const std::string reason = base::format("{}Suspended", job_.framework->kind);
  const std::string text = base::format("{} {} is suspended.", job_.framework->kind, job_.name);
  if (conditions_.is_true("Running")) conditions_.set("Running", false, reason, text);
  if (conditions_.set("Suspended", true, reason, text)) plan().event(*seen_.job, "Normal", reason, text);
  write_status();
}

// A Job that is suspended has no pods either.
void TrainingStep::patch_suspend(bool suspend) {
  if (!seen_.launcher_job || (*seen_.launcher_job)["spec"]["suspend"].as_bool() == suspend) return;
  Json patch = Json::array({Json::object({{"op", "add"}, {"path", "/spec/suspend"}, {"value", suspend}})});
  plan().patch(kBatchJobs, *seen_.launcher_job, client::PatchType::kJson, std::move(patch));
}

// False while pods of the time before are still there.
bool TrainingStep::resume() {
  if (!seen_.pods.empty()) {
    remove_all();
    return false;
  }
  const std::string reason = base::format("{}Resumed", job_.framework->kind);
  const std::string text = base::format("{} {} is resumed.", job_.framework->kind, job_.name);
  conditions_.set("Suspended", false, reason, text);
  status_.set("startTime", base::format_rfc3339(turn_.now));
  plan().event(*seen_.job, "Normal", reason, text);
  return true;
}

}  // namespace controllers::training
