// One step of a Job: count what ended, decide whether it is over, and have as many pods at work as it wants.
//
// COMPAT(batch-job-counts): no pod is counted twice and none needs a finalizer: each pod has a number, and the numbers
// that are settled are written with the counts, in one write. A pod whose number is settled and that still runs was
// given up and is deleted.
#include "controllers/workloads/batch_job.h"

#include <algorithm>
#include <utility>

#include "api/native_group_resources.h"
#include "base/format.h"
#include "controllers/workloads/batch_job_state.h"
#include "controllers/workloads/job_groups.h"

namespace controllers::workloads {

using api::Json;
namespace resources = api::resources;

namespace {

bool is_true(const Json& status, std::string_view type) {
  return condition_of(status, type)["status"].as_string() == "True";
}

void set_condition(std::string_view type, std::string_view value, std::string_view reason, std::string message,
                   base::Time at, Json& status) {
  const std::string now = base::format_rfc3339(at);
  Json kept = Json::array();
  for (const Json& one : status["conditions"].items())
    if (one["type"].as_string() != type) kept.push_back(one);
  kept.push_back(Json::object({{"type", type},
                               {"status", value},
                               {"lastProbeTime", now},
                               {"lastTransitionTime", now},
                               {"reason", reason},
                               {"message", std::move(message)}}));
  status.set("conditions", std::move(kept));
}

void suspend_or_resume(const Json& job, base::Time now, StatusDraft& draft) {
  Json& status = draft.status;
  draft.is_suspended = job["spec"]["suspend"].as_bool();
  const bool was_suspended = is_true(status, "Suspended");
  if (draft.is_suspended && !was_suspended) {
    set_condition("Suspended", "True", "JobSuspended", "Job suspended", now, status);
    draft.events.emplace_back("Normal", "Suspended", "Job suspended");
  } else if (!draft.is_suspended && was_suspended) {
    set_condition("Suspended", "False", "JobResumed", "Job resumed", now, status);
    draft.events.emplace_back("Normal", "Resumed", "Job resumed");
    status.set("startTime", base::format_rfc3339(now));
  }
  if (!draft.is_suspended && status["startTime"].is_null()) status.set("startTime", base::format_rfc3339(now));
}

std::int64_t restarts(const std::vector<PodAtWork>& running) {
  std::int64_t sum = 0;
  for (const PodAtWork& one : running)
    for (const char* list : {"initContainerStatuses", "containerStatuses"})
      for (const Json& status : (*one.pod)["status"][list].items()) sum += status["restartCount"].as_int();
  return sum;
}

// Whether the Job has reached its end, which begins with a condition that stands until all pods are gone.
void judge(const Json& job, const Tally& tally, base::Time now, StatusDraft& draft) {
  for (const char* type : {"FailureTarget", "SuccessCriteriaMet"})
    if (is_true(draft.status, type)) {
      draft.ending = type;
      return;
    }
  const auto end = [&draft, now](std::string_view type, std::string_view reason, std::string message) {
    draft.ending = type;
    set_condition(type, "True", reason, std::move(message), now, draft.status);
  };
  const Json& spec = job["spec"];
  if (!tally.fatal_rule.empty()) return end("FailureTarget", "PodFailurePolicy", tally.fatal_rule);
  const std::int64_t limit = spec["backoffLimit"].as_int(6);
  const bool restarts_count = spec["template"]["spec"]["restartPolicy"].as_string() == "OnFailure";
  const std::int64_t again = restarts_count ? restarts(tally.running) : 0;
  if (tally.failed > limit || (again > 0 && again >= limit))
    return end("FailureTarget", "BackoffLimitExceeded", "Job has reached the specified backoff limit");
  if (const Json& deadline = spec["activeDeadlineSeconds"]; !deadline.is_null() && !draft.is_suspended) {
    const base::Time ends = time_in(draft.status["startTime"]) + base::seconds(deadline.as_int());
    if (ends <= now) return end("FailureTarget", "DeadlineExceeded", "Job was active longer than specified deadline");
    draft.look_again = ends - now;
  }
  if (const auto lost = index_verdict(job, tally)) return end("FailureTarget", lost->first, lost->second);
  if (const std::int64_t rule = fulfilled_rule(spec["successPolicy"], tally.done); rule >= 0)
    return end("SuccessCriteriaMet", "SuccessPolicy", base::format("Matched rules at index {}", rule));
  const bool complete = tally.completions >= 0 ? tally.succeeded >= tally.completions
                                               : tally.succeeded > 0 && tally.running.empty() && tally.held == 0;
  if (complete && !(draft.is_suspended && tally.completions < 0))
    end("SuccessCriteriaMet", "CompletionsReached", "Reached expected number of succeeded pods");
}

void finish(const Tally& tally, base::Time now, StatusDraft& draft) {
  // Pods that are told to go now are still there.
  if (draft.ending.empty() || tally.terminating > 0 || !tally.abandoned.empty()) return;
  const Json cause = condition_of(draft.status, draft.ending);
  const bool complete = draft.ending == "SuccessCriteriaMet";
  set_condition(complete ? "Complete" : "Failed", "True", cause["reason"].as_string(), cause["message"].str(), now,
                draft.status);
  if (complete) {
    draft.status.set("completionTime", base::format_rfc3339(now));
    draft.events.emplace_back("Normal", "Completed", "Job completed");
  } else {
    draft.events.emplace_back("Warning", cause["reason"].str(), cause["message"].str());
  }
}

void set_counts(const Json& job, const Tally& tally, Json& status) {
  std::int64_t ready = 0;
  for (const PodAtWork& one : tally.running) ready += is_ready(*one.pod);
  set_count(status, "active", static_cast<std::int64_t>(tally.running.size()));
  set_count(status, "failed", tally.failed);
  set_count(status, "succeeded", tally.succeeded);
  status.set("ready", ready);
  status.set("terminating", tally.terminating);
  status.set("uncountedTerminatedPods", Json::object());
  if (tally.is_indexed && tally.done.count() > 0) status.set("completedIndexes", tally.done.text());
  if (has_index_limit(job)) status.set("failedIndexes", tally.lost.text());
}

// A job that is given up or ended is written before anything is done about it.
void write(const Json& job, const Tally& tally, const StatusDraft& draft, bool makes_pods, const Turn& turn,
           Plan& plan) {
  const Json& before = job["status"];
  const std::string record = tally.settled.text();
  const bool new_record = api::annotation_of(job, kSettled) != record;
  plan.begin_stage();
  if (!new_record && draft.status == before) return;
  const bool only_numbers = !new_record && differs_in_numbers_only(before, draft.status);
  if (only_numbers && turn.counts_wait > base::Duration{} && before["startTime"] == draft.status["startTime"])
    return plan.requeue_after(turn.counts_wait);
  if (only_numbers && makes_pods && !before["startTime"].is_null()) return;
  Json next = job;
  if (new_record) next.edit_path({"metadata", "annotations"}).set(kSettled, record);
  next.set("status", draft.status);
  plan.set_status(kBatchJobs, std::move(next));
}

void remove_abandoned(const Tally& tally, RestartPauses& pauses, Plan& plan) {
  for (const Json* pod : tally.abandoned) {
    pauses.forget(api::uid_of(*pod));
    Action& action = plan.remove(resources::kPods, *pod);
    action.success_reason = "SuccessfulDelete";
    action.success_text = "Deleted pod: {}";
    action.success_name = std::string(api::name_of(*pod));
    action.stops_nothing = true;
  }
}

bool is_of_another_controller(const Json& job) {
  const Json& by = job["spec"]["managedBy"];
  return by.is_string() && by.as_string() != "kubernetes.io/job-controller";
}

// `pauses`: of all the Job's pods together, for those that vanish.
Plan decide(const ObservedJob& seen, const Turn& turn, RestartPauses& pauses) {
  const Json& job = seen.job;
  Plan plan;
  plan.set_subject(job);
  PodNumbers numbers = read_numbers(seen);
  pauses.begin_look(turn.now);
  for (const PodOfJob& one : numbers.pods) pauses.see({}, *one.pod);
  pauses.end_look();
  give_numbers(seen, numbers, plan);
  const Claim released{.owned = {}, .adopt = {}, .release = seen.claimed.release};
  settle_claim(plan, resources::kPods, released, job, "batch/v1", "Job");
  Tally tally = count_pods(job, numbers);
  StatusDraft draft{.status = job["status"].is_object() ? job["status"] : Json::object()};
  suspend_or_resume(job, turn.now, draft);
  judge(job, tally, turn.now, draft);
  MissingPods missing;
  if (draft.ending.empty() && !draft.is_suspended) {
    missing = plan_pods(job, pauses.left({}, turn.now), turn.now, numbers, tally);
    if (has_own_group(job) && !plan_group(job, seen.workload, seen.group, plan)) missing = {};
  } else {
    for (const PodAtWork& one : std::exchange(tally.running, {})) give_up(one, draft.ending, tally);
  }
  for (const auto& later : {draft.look_again, missing.look_again})
    if (later) plan.requeue_after(*later);
  finish(tally, turn.now, draft);
  set_counts(job, tally, draft.status);
  write(job, tally, draft, missing.count > 0, turn, plan);
  plan.begin_stage();
  for (const auto& [type, reason, message] : draft.events) plan.event(job, type, reason, message);
  remove_abandoned(tally, pauses, plan);
  create_pods(seen, tally, turn, missing, numbers.next, plan);
  return plan;
}

}  // namespace

bool is_job_over(const Json& job) { return is_true(job["status"], "Complete") || is_true(job["status"], "Failed"); }

namespace {

// The Job that controls an object.
Keys job_above(const View&, const Json& object) {
  const Json& owner = api::controller_of(object);
  if (owner["kind"].as_string() != "Job" || owner["apiVersion"].as_string() != kBatchJobs.api_version()) return {};
  return {base::format("{}/{}", api::namespace_of(object), owner["name"].as_string())};
}

class BatchJobController final : public Controller {
 public:
  std::string_view name() const override { return "batch-job-controller"; }
  std::string_view component() const override { return "job-controller"; }

  std::vector<Write> writes() const override {
    return {{resources::kPods, "create patch delete"},
            {kBatchJobs, "update", "status"},
            {resources::kNativeWorkloads, "create patch"},
            {resources::kNativePodGroups, "create patch"}};
  }
  std::vector<Wake> wakes_on() const override {
    return {
        {kBatchJobs, [](const View&, const Json& job) { return Keys{api::key_of(job)}; }},
        {resources::kPods, [](const View& view, const Json& pod) { return owners_of(view, pod, kBatchJobs, "Job"); }},
        {.resource = resources::kNativeWorkloads, .keys = job_above, .may_be_absent = true},
        {.resource = resources::kNativePodGroups, .keys = job_above, .may_be_absent = true}};
  }
  std::vector<IndexBy> indexes() const override { return ownership_indexes(resources::kPods); }
  Plan step(const View& view, const std::string& key, const Turn& turn) override {
    const Json* job = view.find(kBatchJobs, key);
    if (job == nullptr) {
      pauses_.forget(key);
      return {};
    }
    RestartPauses& pauses = pauses_.of(key);
    const auto selector = selector_of(*job);
    if (!selector || api::is_deleting(*job) || is_job_over(*job) || is_of_another_controller(*job)) return {};
    ObservedJob seen{*job, claim(view, resources::kPods, *job, *selector), names_taken(view, resources::kPods, *job)};
    if (has_own_group(*job)) {
      // An object of somebody else that has the name is left alone: the creation is refused, and an event says so.
      const auto found = [&view, job](const api::ResourceId& resource, const std::string& name) {
        const Json* one = view.find(resource, base::format("{}/{}", api::namespace_of(*job), name));
        const bool is_ours = one != nullptr && api::controller_of(*one)["uid"].as_string() == api::uid_of(*job);
        return is_ours ? one : nullptr;
      };
      seen.workload = found(resources::kNativeWorkloads, workload_name_of(*job));
      seen.group = found(resources::kNativePodGroups, group_name_of(*job));
    }
    return decide(seen, turn, pauses);
  }

 private:
  PausesByOwner pauses_;
};

class TtlController final : public Controller {
 public:
  std::string_view name() const override { return "ttl-after-finished-controller"; }

  std::vector<Write> writes() const override { return {{kBatchJobs, "delete"}}; }
  std::vector<Wake> wakes_on() const override {
    return {{kBatchJobs, [](const View&, const Json& job) { return Keys{api::key_of(job)}; }}};
  }
  Plan step(const View& view, const std::string& key, const Turn& turn) override {
    Plan plan;
    const Json* job = view.find(kBatchJobs, key);
    if (!job || api::is_deleting(*job) || !is_job_over(*job)) return plan;
    const Json& ttl = (*job)["spec"]["ttlSecondsAfterFinished"];
    if (!ttl.is_number()) return plan;
    const Json& status = (*job)["status"];
    const std::string_view type = is_true(status, "Complete") ? "Complete" : "Failed";
    const base::Time ends = time_in(condition_of(status, type)["lastTransitionTime"]) + base::seconds(ttl.as_int());
    if (ends > turn.now) {
      plan.requeue_after(ends - turn.now);
      return plan;
    }
    Action& action = plan.remove(kBatchJobs, *job);
    action.body.set("propagationPolicy", "Foreground");
    action.body.edit("preconditions").set("resourceVersion", api::resource_version_of(*job));
    return plan;
  }
};

}  // namespace

std::unique_ptr<Controller> make_batch_job_controller() { return std::make_unique<BatchJobController>(); }
std::unique_ptr<Controller> make_ttl_controller() { return std::make_unique<TtlController>(); }

}  // namespace controllers::workloads
