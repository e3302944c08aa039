// The order in which a training job is looked at (training.md 7.1), and its status.
#include "controllers/training/step.h"

#include <algorithm>
#include <utility>

#include "api/meta/resource.h"
#include "base/format.h"
#include "base/utf8.h"
#include "controllers/framework/refusals.h"
#include "controllers/training/pods.h"
#include "controllers/training/training_step.h"

namespace controllers::training {

using api::Json;
using base::Time;

namespace {

Time time_in(const Json& text) { return base::parse_rfc3339(text.as_string()).value_or(Time{}); }

constexpr std::string_view kBackoffReached = " has failed because it has reached the specified backoff limit";
constexpr std::string_view kRefused = "CreationRefused";
constexpr std::string_view kDeadlineReached = " has failed because it was active longer than specified deadline";

// Only numbers of pods differ.
bool differ_in_counts_only(Json a, Json b) {
  for (Json* one : {&a, &b}) one->erase("replicaStatuses");
  return a == b;
}

std::shared_ptr<const Reading> reading_of(const Framework& framework, const Json& document, const Memory& memory) {
  if (memory.reading && memory.reading->document.same_as(document)) return memory.reading;
  auto reading = std::make_shared<Reading>();
  reading->document = document;
  reading->job = read_job(framework, document);
  reading->problem = problem_of(reading->job);
  reading->names_classes = !priority_classes_of(framework, document).empty();
  return reading;
}

}  // namespace

TrainingStep::TrainingStep(const Framework& framework, const Observed& seen, Memory memory, const Turn& turn,
                           const Options& options)
    : seen_(seen),
      turn_(turn),
      options_(options),
      reading_(reading_of(framework, *seen.job, memory)),
      job_(reading_->job),
      conditions_((*seen.job)["status"]["conditions"], turn.now),
      verdict_(job_, conditions_),
      status_((*seen.job)["status"]),
      said_(std::move(memory.said)),
      restarts_before_(std::move(memory.restarts)) {
  if (reading_ == memory.reading) good_group_ = std::move(memory.group);
  decision_.memory.uid = job_.uid;
  decision_.memory.reading = reading_;
  RestartPauses& pauses = decision_.memory.pauses = std::move(memory.pauses);
  pauses.begin_look(turn.now);
  for (const Json* pod : seen.pods) pauses.see(std::string(api::name_of(*pod)), *pod);
  pauses.end_look();
  plan().set_subject(*seen.job);
  if (!status_.is_object()) status_ = Json::object();
  if (!status_["replicaStatuses"].is_object()) status_.set("replicaStatuses", Json::object());
}

Decision TrainingStep::take() {
  decide();
  decision_.memory.said = said_.all();
  decision_.memory.group = std::move(good_group_);
  return std::move(decision_);
}

void TrainingStep::say_once(std::string_view type, std::string_view reason, const std::string& text,
                            std::string_view about) {
  if (said_.is_new(base::format("{} {} {}", reason, about, text))) plan().event(*seen_.job, type, reason, text);
}

void TrainingStep::decide() {
  const bool is_ours_to_run = job_.managed_by.empty() || job_.managed_by == job_.framework->manager;
  if (!is_ours_to_run || api::is_deleting(*seen_.job)) return;
  if (!is_valid() && !conditions_.is_finished()) {
    say_once("Warning", base::format("{}FailedValidation", job_.framework->kind),
             base::format("{} failed validation because {}", job_.framework->kind, reading_->problem));
    // A job that has begun goes on as long as it has pods, and so does a suspended one.
    if (seen_.pods.empty() && !seen_.launcher_job && !job_.suspended) return;
  }
  note_created();
  if (conditions_.is_finished()) return clean_up();
  if (job_.suspended) conditions_.remove(kRefused);
  if (job_.suspended) return suspend();
  if (conditions_.is_true("Suspended") && !resume()) return;
  sort_pods();
  if (exceeds_limits()) return;
  bool may_make = false;
  if (is_valid()) {
    keep_autoscaler();
    may_make = are_priorities_known() && admit_group();
    if (!may_make && seen_.pods.empty()) {
      // COMPAT(training-reconcile-time): when it was first seen to wait, and not at each look.
      if (!status_.has("lastReconcileTime")) status_.set("lastReconcileTime", base::format_rfc3339(turn_.now));
      return write_status();
    }
  } else if (has_negative_counts()) {
    return write_status();  // there is no telling whether as many have succeeded
  }
  if (!status_.has("startTime")) status_.set("startTime", base::format_rfc3339(turn_.now));
  look_at_pods();
  verdict_.begin_judgement();
  job_.framework->judge(verdict_);
  end_verdict();
  const bool is_refused = tell_refusal();
  // No pod goes before the status counts it, and the objects that an MPIJob has beside its pods may be refused for
  // ever.
  const bool tells_first = !to_make_again_.empty() || job_.framework->objects || is_refused;
  if (tells_first) write_status();
  remove_failed();
  if (may_make && !conditions_.is_finished() && make_own_objects()) make_missing();
  if (!tells_first) write_status();
}

bool TrainingStep::has_all_pods() const {
  return std::ranges::all_of(job_.replicas, [&](const Replica& one) {
    if (has_launcher_job() && one.type == "Launcher") return true;
    const auto found = pods_.find(one.lower);
    return std::cmp_greater_equal(found == pods_.end() ? 0 : found->second.size(),
                                  std::max<std::int64_t>(one.count, 0));
  });
}

// COMPAT(training-creation-refused): the words of the server about what it does not let the job make, as long as that
// is missing. True: they are new.
bool TrainingStep::tell_refusal() {
  if (turn_.failures == 0 || turn_.error.empty() || has_all_pods()) {
    // A process that has just begun does not know yet whether it still is refused.
    if (has_all_pods()) conditions_.remove(kRefused);
    return false;
  }
  const std::string shortfall = shortfall_of(turn_.error);
  const std::string text =
      base::format("pods cannot be made{}: {}", shortfall.empty() ? "" : base::format(", {}", shortfall), turn_.error);
  return conditions_.tell(kRefused, std::string(base::utf8_prefix(text, 1024)));
}

bool TrainingStep::has_negative_counts() const {
  return std::ranges::any_of(job_.replicas, [](const Replica& one) { return one.count < 0; });
}

void TrainingStep::note_created() {
  if (conditions_.has("Created")) return;
  conditions_.set("Created", true, base::format("{}Created", job_.framework->kind),
                  base::format("{} {} is created.", job_.framework->kind,
                               job_.framework->launcher_is_a_job ? key(job_.name) : job_.name));
  count("training_operator_jobs_created_total");
}

void TrainingStep::end_verdict() {
  for (const Said& one : verdict_.said()) plan().event(*seen_.job, one.type, one.reason, one.message);
  if (verdict_.has_succeeded()) count("training_operator_jobs_successful_total");
  if (verdict_.has_failed()) count("training_operator_jobs_failed_total");
  if (conditions_.is_finished()) conditions_.remove(kRefused);
  if (conditions_.is_finished() && !status_.has("completionTime"))
    status_.set("completionTime", base::format_rfc3339(turn_.now));
  Json statuses = Json::object();
  for (const Replica& one : job_.replicas) statuses.set(one.type, replica_status(one, verdict_.counts(one)));
  status_.set("replicaStatuses", std::move(statuses));
  count_active_as_succeeded();
}

Json TrainingStep::replica_status(const Replica& replica, const Counts& counts) const {
  Json out = Json::object();
  if (counts.active > 0) out.set("active", counts.active);
  if (counts.succeeded > 0) out.set("succeeded", counts.succeeded);
  if (counts.failed > 0) out.set("failed", counts.failed);
  if (job_.framework->tells_selectors) out.set("selector", selector_of(job_, replica));
  return out;
}

// Restarts in place, of containers of pods that run. COMPAT(training-restarts): also of the containers that a pod waits
// for, so that a worker whose master never resolves comes to an end, too.
std::int64_t TrainingStep::containers_restarted() const {
  std::int64_t sum = 0;
  for (const Replica& replica : job_.replicas) {
    const auto found = pods_.find(replica.lower);
    if (!replica.tried_again || found == pods_.end()) continue;
    for (const auto& [index, pods] : found->second)
      for (const Json* pod : pods) {
        const Json& status = (*pod)["status"];
        const std::string_view phase = status["phase"].as_string();
        if (phase != "Running" && phase != "Pending") continue;
        for (const char* list : {"containerStatuses", "initContainerStatuses"})
          for (const Json& one : status[list].items())
            sum += std::clamp<std::int64_t>(one["restartCount"].as_int(), 0, INT32_MAX);
      }
  }
  return sum;
}

// COMPAT(training-restarts): pods that failed now and would be made again.
std::int64_t TrainingStep::restarts_due() const {
  std::int64_t due = 0;
  for (const Replica& replica : job_.replicas) {
    const auto found = pods_.find(replica.lower);
    if (!is_made_again(replica) || found == pods_.end()) continue;
    for (const auto& [index, pods] : found->second)
      for (const Json* pod : pods)
        due += (*pod)["status"]["phase"].as_string() == "Failed" && !api::is_deleting(*pod) && !is_taken_away(*pod) &&
               !is_permanent(replica, *pod) && !is_restart_counted(*pod);
  }
  return due;
}

bool TrainingStep::exceeds_limits() {
  if (has_launcher_job()) return false;  // that Job has the limits
  if (job_.backoff_limit) {
    const std::int64_t limit = *job_.backoff_limit;
    const std::int64_t due = restarts_due();
    const std::int64_t in_place = containers_restarted();
    if ((due > 0 && status_["restartCount"].as_int() + due > limit) ||
        (limit == 0 ? in_place > 0 : in_place >= limit)) {
      fail_at_limit(base::format("Job {}{}", job_.name, kBackoffReached));
      return true;
    }
  }
  if (!job_.deadline || !status_.has("startTime")) return false;
  const base::Duration left = time_in(status_["startTime"]) + *job_.deadline - turn_.now;
  if (left > base::Duration{}) {
    plan().requeue_after(left);
    return false;
  }
  fail_at_limit(base::format("Job {}{}", job_.name, kDeadlineReached));
  return true;
}

void TrainingStep::fail_at_limit(const std::string& message) {
  for (const Json* pod : seen_.pods) say_how_it_ended(*pod, exit_code_of(*pod, job_.framework->container));
  verdict_.failed(message);
  const Json counted = status_["replicaStatuses"];
  end_verdict();
  // The end of a replica is known when its pods are gone.
  for (const Replica& one : job_.replicas)
    for (const char* how : {"succeeded", "failed"})
      if (const Json& number = counted[one.type][how]; !number.is_null())
        status_.edit("replicaStatuses").edit(one.type).set(how, number);
  if (has_launcher_pods()) status_.edit("replicaStatuses").edit("Launcher").set("failed", failed_launchers(true));
  write_status();
  // A job whose pods went before it has failed would begin anew.
  plan().begin_stage();
  remove_after_limit();
  if (!keeps_group()) remove_group();
}

bool TrainingStep::has_failed_at_limit() const {
  const std::string_view message = conditions_.message("Failed");
  return message.ends_with(kBackoffReached) || message.ends_with(kDeadlineReached);
}

void TrainingStep::write_status() {
  Json next = status_;
  next.set("conditions", conditions_.json());
  const Json& before = (*seen_.job)["status"];
  if (next == before) return;
  if (turn_.counts_wait > base::Duration{} && differ_in_counts_only(next, before))
    return plan().requeue_after(turn_.counts_wait);
  Json object = *seen_.job;
  object.set("status", std::move(next));
  plan().begin_stage();
  plan().set_status(job_.framework->resource, std::move(object));
}

Decision step(const Framework& framework, const Observed& seen, Memory memory, const Turn& turn,
              const Options& options) {
  return TrainingStep(framework, seen, std::move(memory), turn, options).take();
}

}  // namespace controllers::training
