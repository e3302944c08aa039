// Statuses made from statuses: each function adds what one phase of a look has found.
#include "controllers/training/job_status.h"

#include <utility>

#include "base/format.h"
#include "base/utf8.h"
#include "controllers/framework/counts.h"
#include "controllers/framework/refusals.h"
#include "controllers/training/framework.h"
#include "controllers/training/pods.h"

namespace controllers::training {

using api::Json;

namespace {

// Only numbers of pods differ.
bool differ_in_counts_only(Json a, Json b) {
  for (Json* one : {&a, &b}) one->erase("replicaStatuses");
  return a == b;
}

Json replica_status(const TrainingJob& job, const Replica& replica, const Counts& counts) {
  Json out = Json::object();
  if (counts.active > 0) out.set("active", counts.active);
  if (counts.succeeded > 0) out.set("succeeded", counts.succeeded);
  if (counts.failed > 0) out.set("failed", counts.failed);
  if (job.framework->notifies_selectors) out.set("selector", selector_of(job, replica));
  return out;
}

Judgement judgement_of(const Verdict& verdict, Conditions conditions) {
  return {std::move(conditions), verdict.reported(), verdict.has_succeeded(), verdict.has_failed()};
}

}  // namespace

JobStatus read_status(const Json& job, base::Time now) {
  JobStatus status{Conditions(job["status"]["conditions"], now), job["status"]};
  if (!status.fields.is_object()) status.fields = Json::object();
  if (!status.fields["replicaStatuses"].is_object()) status.fields.set("replicaStatuses", Json::object());
  return status;
}

JobStatus with_creation(const TrainingJob& job, JobStatus status, Output& out) {
  if (status.conditions.has("Created")) return status;
  status.conditions.set("Created", true, base::format("{}Created", job.framework->kind),
                        base::format("{} {} is created.", job.framework->kind,
                                     job.framework->launcher_is_a_job ? job.key(job.name) : job.name));
  out.count("training_operator_jobs_created_total");
  return status;
}

// COMPAT(training-creation-refused)
std::string refusal_of(const Turn& turn, bool has_all_pods) {
  if (turn.failures == 0 || turn.error.empty() || has_all_pods) return {};
  const std::string shortfall = shortfall_of(turn.error);
  const std::string text =
      base::format("pods cannot be made{}: {}", shortfall.empty() ? "" : base::format(", {}", shortfall), turn.error);
  return std::string(base::utf8_prefix(text, 1024));
}

JobStatus with_active_as_succeeded(JobStatus status) {
  if (!status.conditions.is_true("Succeeded")) return status;
  const Json counted = status.fields["replicaStatuses"];
  for (const Json::Member& member : counted.members()) {
    const std::int64_t active = member.value["active"].as_int();
    if (active <= 0) continue;
    Json& one = status.fields.edit("replicaStatuses").edit(member.name());
    one.set("succeeded", fit_count(one["succeeded"].as_int() + active));
    one.erase("active");
  }
  return status;
}

Judgement judge(const TrainingJob& job, Conditions conditions, const PodFindings& found) {
  Verdict verdict(job, conditions, found.counts);
  verdict.launcher_failure = found.launcher_failure;
  verdict.first_worker_is_done = found.first_worker_is_done;
  for (const ReplicaFailure& one : found.failures) {
    if (one.ends_job)
      verdict.failed(one.message, "Warning");
    else
      verdict.restarting(one.message);
  }
  verdict.begin_judgement();
  job.framework->judge(verdict);
  return judgement_of(verdict, std::move(conditions));
}

Judgement judge_limit_reached(const TrainingJob& job, Conditions conditions, const std::string& message) {
  const CountsByType none;
  Verdict verdict(job, conditions, none);
  verdict.failed(message);
  return judgement_of(verdict, std::move(conditions));
}

JobStatus with_judgement(const TrainingJob& job, JobStatus status, Judgement judged, const CountsByType& counts,
                         base::Time now, Output& out) {
  for (Reported& one : judged.reported) out.event(one.type, one.reason, std::move(one.message));
  if (judged.has_succeeded) out.count("training_operator_jobs_successful_total");
  if (judged.has_failed) out.count("training_operator_jobs_failed_total");
  status.conditions = std::move(judged.conditions);
  if (status.conditions.is_finished()) {
    status.conditions.remove(kCreationRefused);
    if (!status.fields.has("completionTime")) status.fields.set("completionTime", base::format_rfc3339(now));
  }
  Json statuses = Json::object();
  for (const Replica& one : job.replicas) {
    const auto found = counts.find(one.type);
    statuses.set(one.type, replica_status(job, one, found == counts.end() ? Counts{} : found->second));
  }
  status.fields.set("replicaStatuses", std::move(statuses));
  return with_active_as_succeeded(std::move(status));
}

void write_status(const Reading& reading, const JobStatus& status, const Turn& turn, Output& out) {
  Json next = status.fields;
  next.set("conditions", status.conditions.json());
  const Json& before = reading.document["status"];
  if (next == before) return;
  if (turn.counts_wait > base::Duration{} && differ_in_counts_only(next, before))
    return out.plan().requeue_after(turn.counts_wait);
  Json object = reading.document;
  object.set("status", std::move(next));
  out.plan().begin_stage();
  out.plan().set_status(reading.job.framework->resource, std::move(object));
}

}  // namespace controllers::training
