// The order in which a training job is looked at (training.md 7.1).
#include "controllers/training/step.h"

#include <algorithm>
#include <utility>

#include "api/meta/resource.h"
#include "base/format.h"
#include "controllers/training/companions.h"
#include "controllers/training/creation.h"
#include "controllers/training/endings.h"
#include "controllers/training/findings.h"
#include "controllers/training/job_status.h"
#include "controllers/training/output.h"
#include "controllers/training/pods.h"
#include "controllers/training/pods_by_type.h"

namespace controllers::training {

using api::Json;
using base::Time;

namespace {

constexpr std::string_view kBackoffReached = " has failed because it has reached the specified backoff limit";
constexpr std::string_view kDeadlineReached = " has failed because it was active longer than specified deadline";

// The parts of the memory that a look changes by its decisions.
struct Carried {
  RestartCounts restarts = {};  // see Memory::restarts
  Json group = {};              // see Memory::group
};

bool has_failed_at_limit(const Conditions& conditions) {
  const std::string_view message = conditions.message("Failed");
  return message.ends_with(kBackoffReached) || message.ends_with(kDeadlineReached);
}

bool has_negative_counts(const TrainingJob& job) {
  return std::ranges::any_of(job.replicas, [](const Replica& one) { return one.count < 0; });
}

// A limit of the job: reached, or reached after a while.
struct LimitCheck {
  std::string failure = {};  // the message of a job that has reached one
  std::optional<base::Duration> left = {};
};

LimitCheck check_limits(const TrainingJob& job, const Options& options, const PodsByType& pods,
                        const KnownRestarts& restarts, const Json& status, Time now) {
  if (has_launcher_job(job, options)) return {};  // that Job has the limits
  if (job.backoff_limit) {
    const std::int64_t limit = *job.backoff_limit;
    const std::int64_t due = restarts_due(job, pods, restarts);
    const std::int64_t in_place = containers_restarted(job, pods);
    if ((due > 0 && restarts.counted + due > limit) || (limit == 0 ? in_place > 0 : in_place >= limit))
      return {base::format("Job {}{}", job.name, kBackoffReached)};
  }
  if (!job.deadline || !status.has("startTime")) return {};
  const Time begun = base::parse_rfc3339(status["startTime"].as_string()).value_or(Time{});
  const base::Duration left = begun + *job.deadline - now;
  if (left > base::Duration{}) return {.left = left};
  return {base::format("Job {}{}", job.name, kDeadlineReached)};
}

void fail_at_limit(const Observed& seen, const Options& options, const PodsByType& pods, const KnownRestarts& restarts,
                   JobStatus status, const std::string& message, const Turn& turn, Output& out) {
  const TrainingJob& job = seen.reading->job;
  for (const Json* pod : seen.pods)
    out.report_once(endings_of_pod(job, *pod, exit_code_of(*pod, job.framework->container)));
  const Json counted = status.fields["replicaStatuses"];
  Judgement judged = judge_limit_reached(job, std::move(status.conditions), message);
  status = with_judgement(job, std::move(status), std::move(judged), {}, turn.now, out);
  // The end of a replica is known when its pods are gone.
  for (const Replica& one : job.replicas)
    for (const char* how : {"succeeded", "failed"})
      if (const Json& number = counted[one.type][how]; !number.is_null())
        status.fields.edit("replicaStatuses").edit(one.type).set(how, number);
  if (has_launcher_pods(job, options))
    status.fields.edit("replicaStatuses")
        .edit("Launcher")
        .set("failed", failed_launchers(job, pods, restarts, restarts.counted, {}, /*all_end=*/true));
  write_status(*seen.reading, status, turn, out);
  // A job whose pods went before it has failed would begin anew.
  out.plan().begin_stage();
  remove_after_limit(seen, out);
  if (!keeps_group(job)) remove_group(seen, options, out);
}

// A job that runs: its pods are judged, and those that it lacks are made.
RestartCounts run(const Observed& seen, const FindTaken& find_taken, const Options& options, const PodsByType& pods,
                  const KnownRestarts& restarts, const RestartPauses& pauses, bool may_make, JobStatus status,
                  const Turn& turn, Output& out) {
  const TrainingJob& job = seen.reading->job;
  if (!status.fields.has("startTime")) status.fields.set("startTime", base::format_rfc3339(turn.now));
  PodFindings found = look_at_pods(seen, options, pods, restarts, out);
  if (found.restart_count != restarts.counted) status.fields.set("restartCount", found.restart_count);
  Judgement judged = judge(job, std::move(status.conditions), found);
  status = with_judgement(job, std::move(status), std::move(judged), found.counts, turn.now, out);
  const bool is_whole = has_all_pods(job, options, pods);
  if (is_whole) status.conditions.remove(kCreationRefused);
  const std::string refusal = refusal_of(turn, is_whole);
  const bool is_news = !refusal.empty() && status.conditions.record(kCreationRefused, refusal);
  // No pod goes before the status counts it, and the objects that an MPIJob has beside its pods may be refused for
  // ever.
  const bool notifies_first = !found.pods_to_make_again.empty() || job.framework->objects || is_news;
  if (notifies_first) write_status(*seen.reading, status, turn, out);
  if (!found.pods_to_make_again.empty()) out.plan().begin_stage();
  for (const Json* pod : found.pods_to_make_again) out.remove_pod(*pod);
  if (may_make && !status.conditions.is_finished() && make_own_objects(seen, find_taken, options, out))
    make_replicas(seen, find_taken, options, pods, pauses, turn.now, out);
  if (!notifies_first) write_status(*seen.reading, status, turn, out);
  return std::move(found.restarts);
}

// Carries on the group that was found to be good, and the restarts of pods that are still there.
Carried look_at_running(const Observed& seen, const FindTaken& find_taken, const Options& options, Carried before,
                        const RestartPauses& pauses, JobStatus status, const Turn& turn, Output& out) {
  const TrainingJob& job = seen.reading->job;
  const bool is_valid = seen.reading->is_valid();
  const PodsByType pods = sort_pods(job, seen.pods);
  const KnownRestarts restarts{before.restarts, status.fields["restartCount"].as_int(), is_valid};
  const LimitCheck limits = check_limits(job, options, pods, restarts, status.fields, turn.now);
  if (limits.left) out.plan().requeue_after(*limits.left);
  if (!limits.failure.empty()) {
    fail_at_limit(seen, options, pods, restarts, std::move(status), limits.failure, turn, out);
    return {.group = std::move(before.group)};
  }
  GroupAdmission admission{.good_group = std::move(before.group)};
  if (is_valid) {
    keep_autoscaler(seen, options, out);
    if (are_priorities_known(seen, out)) admission = admit_group(seen, options, std::move(admission.good_group), out);
    if (!admission.may_make_pods && seen.pods.empty()) {
      // COMPAT(training-reconcile-time): when it was first seen to wait, and not at each look.
      if (!status.fields.has("lastReconcileTime"))
        status.fields.set("lastReconcileTime", base::format_rfc3339(turn.now));
      write_status(*seen.reading, status, turn, out);
      return {.group = std::move(admission.good_group)};
    }
  } else if (has_negative_counts(job)) {
    write_status(*seen.reading, status, turn, out);  // there is no telling whether as many have succeeded
    return {.group = std::move(admission.good_group)};
  }
  RestartCounts kept =
      run(seen, find_taken, options, pods, restarts, pauses, admission.may_make_pods, std::move(status), turn, out);
  return {std::move(kept), std::move(admission.good_group)};
}

Carried decide(const Observed& seen, const FindTaken& find_taken, const Options& options, Carried before,
               const RestartPauses& pauses, const Turn& turn, Output& out) {
  const TrainingJob& job = seen.reading->job;
  Carried unchanged{.group = before.group};
  const bool is_ours_to_run = job.managed_by.empty() || job.managed_by == job.framework->manager;
  if (!is_ours_to_run || api::is_deleting(seen.reading->document)) return unchanged;
  JobStatus status = read_status(seen.reading->document, turn.now);
  if (!seen.reading->is_valid() && !status.conditions.is_finished()) {
    out.report_once({"Warning", base::format("{}FailedValidation", job.framework->kind),
                     base::format("{} failed validation because {}", job.framework->kind, seen.reading->problem)});
    // A job that has begun goes on as long as it has pods, and so does a suspended one.
    if (seen.pods.empty() && !seen.launcher_job && !job.suspended) return unchanged;
  }
  status = with_creation(job, std::move(status), out);
  if (status.conditions.is_finished()) {
    const bool failed_at_limit = has_failed_at_limit(status.conditions);
    clean_up(seen, options, std::move(status), failed_at_limit, turn, out);
    return unchanged;
  }
  if (job.suspended) {
    status.conditions.remove(kCreationRefused);
    suspend(seen, options, std::move(status), turn, out);
    return unchanged;
  }
  if (status.conditions.is_true("Suspended")) {
    std::optional<JobStatus> resumed = resume(seen, std::move(status), turn, out);
    if (!resumed) return unchanged;
    status = *std::move(resumed);
  }
  return look_at_running(seen, find_taken, options, std::move(before), pauses, std::move(status), turn, out);
}

RestartPauses pauses_now(RestartPauses pauses, const std::vector<const Json*>& pods, Time now) {
  pauses.begin_look(now);
  for (const Json* pod : pods) pauses.see(std::string(api::name_of(*pod)), *pod);
  pauses.end_look();
  return pauses;
}

}  // namespace

std::shared_ptr<const Reading> reading_of(const Framework& framework, const Json& document, const Memory& memory) {
  if (memory.reading && memory.reading->document.same_as(document)) return memory.reading;
  auto reading = std::make_shared<Reading>();
  reading->document = document;
  reading->job = read_job(framework, document);
  reading->problem = problem_of(reading->job);
  reading->classes = priority_classes_of(framework, document);
  return reading;
}

Decision step(const Observed& seen, const FindTaken& find_taken, Memory memory, const Turn& turn,
              const Options& options) {
  Output out(seen.reading->document, std::move(memory.reported));
  RestartPauses pauses = pauses_now(std::move(memory.pauses), seen.pods, turn.now);
  Carried before{std::move(memory.restarts), seen.reading == memory.reading ? std::move(memory.group) : Json()};
  Carried after = decide(seen, find_taken, options, std::move(before), pauses, turn, out);
  for (const std::string& uid : out.removed_pods()) pauses.forget(uid);
  return {.plan = out.take_plan(),
          .memory = {.uid = seen.reading->job.uid,
                     .reported = out.reported(),
                     .reading = seen.reading,
                     .restarts = std::move(after.restarts),
                     .group = std::move(after.group),
                     .pauses = std::move(pauses)},
          .counted = out.take_counted()};
}

}  // namespace controllers::training
