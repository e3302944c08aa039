// The group of a training job: made, kept as it should be, waited for, and removed (training.md 8).
#include "api/meta/resource.h"
#include "base/format.h"
#include "controllers/groups/waiting.h"
#include "controllers/training/companions.h"
#include "controllers/training/framework.h"

namespace controllers::training {

using api::Json;

namespace {

// The group is the job's own and stays. An empty value: it has to be looked at again.
Json keep_group(const Observed& seen, const Options& options, const PriorityOf& priority_of, Output& out) {
  const TrainingJob& job = seen.reading->job;
  if (auto patch = group_patch(job, options, *seen.group, priority_of)) {
    Action& action =
        out.plan().patch(group_resource(options), *seen.group, client::PatchType::kJson, *std::move(patch));
    action.stops_nothing = true;
    action.failure_reason = "FailedUpdatePodGroup";
    action.failure_text = "Error updating: {}";
    return {};
  }
  return seen.reading->classes.empty() ? *seen.group : Json();
}

bool is_admitted(const TrainingJob& job, const Options& options, const Json& group, Output& out) {
  // Other schedulers want to see the pods first, and so it is with MPIJobs of v2beta1.
  if (!options.plugin_scheduler.empty() || job.framework->launcher_is_a_job) return true;
  const std::string_view phase = group["status"]["phase"].as_string();
  const bool admitted = !phase.empty() && phase != "Pending";
  // COMPAT(training-waits): a job without pods has nothing else that could say it.
  if (const std::string why = waiting_sentence(trouble_of_group(group)); !admitted && !why.empty())
    out.report_once({"Warning", "PodGroupPending", base::format("PodGroup {} waits: {}", job.key(job.name), why)});
  return admitted;
}

void make_group(const TrainingJob& job, const Options& options, const PriorityOf& priority_of, Output& out) {
  Action& action = out.plan().create(group_resource(options), group_for(job, options, priority_of));
  action.failure_reason = "FailedCreatePodGroup";
  action.failure_text = "Error creating: {}";
  action.stops_nothing = true;  // the status says at least that the job is there
  out.count("created_pod_groups_total");
}

}  // namespace

// COMPAT(training-priority): a job that names a class that is not there waits for it, as a pod of that class would be
// refused. A job that has begun goes on. If not even the system's classes are seen, they are hidden from us.
bool are_priorities_known(const Observed& seen, Output& out) {
  if (!seen.pods.empty() || seen.group || !seen.sees_classes) return true;
  for (const auto& [path, name] : seen.reading->classes) {
    if (const auto known = seen.classes.find(name); known != seen.classes.end() && known->second) continue;
    out.report_once(
        {"Warning", "PriorityClassNotFound",
         base::format("{}: no PriorityClass with name {} was found; create it, or name another one: until then the "
                      "job has no pods",
                      path, name)});
    return false;
  }
  return true;
}

GroupAdmission admit_group(const Observed& seen, const Options& options, Json good_group, Output& out) {
  const TrainingJob& job = seen.reading->job;
  if (!options.gang) return {true, std::move(good_group)};
  const PriorityOf priority_of = [&seen](std::string_view name) {
    const auto known = seen.classes.find(name);
    return known == seen.classes.end() ? 0 : known->second.value_or(0);
  };
  // COMPAT(mpi-scheduler-warning)
  if (names_other_scheduler(job, options))
    out.report_once({"Warning",
                     job.framework->kind == "MPIJob" ? "SettedPodTemplateSchedulerName" : "SetPodTemplateSchedulerName",
                     "Another scheduler is specified when gang-scheduling is enabled and it will not be overwritten"});
  if (!seen.group) {
    make_group(job, options, priority_of, out);
    return {false, std::move(good_group)};
  }
  if (!job.owns(*seen.group)) {
    out.report_once(
        {"Warning", "FailedCreatePodGroup",
         base::format("PodGroup {} exists and does not belong to this job; delete it, or give the job another "
                      "name",
                      job.key(job.name))});
    return {false, std::move(good_group)};
  }
  if (api::is_deleting(*seen.group)) return {false, std::move(good_group)};
  if (!good_group.same_as(*seen.group)) good_group = keep_group(seen, options, priority_of, out);
  return {is_admitted(job, options, *seen.group, out), std::move(good_group)};
}

void remove_group(const Observed& seen, const Options& options, Output& out) {
  const TrainingJob& job = seen.reading->job;
  if (!seen.group || !job.owns(*seen.group) || api::is_deleting(*seen.group)) return;
  Action& action = out.plan().remove(group_resource(options), *seen.group);
  action.success_reason = "SuccessfulDeletePodGroup";
  action.success_text = base::format("Deleted PodGroup: {}", job.name);
  action.failure_reason = "FailedDeletePodGroup";
  action.failure_text = "Error deleting: {}";
  out.count("deleted_pod_groups_total");
}

}  // namespace controllers::training
