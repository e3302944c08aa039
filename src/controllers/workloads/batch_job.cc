// One step of a Job: count what ended, decide whether it is over, and have as many pods at work as it wants.
//
// COMPAT(batch-job-counts): no pod is counted twice and none needs a finalizer: each pod has a number, and the numbers
// that are settled are written with the counts, in one write. A pod whose number is settled and that still runs was
// given up and is deleted.
#include "controllers/workloads/batch_job.h"

#include <algorithm>

#include "base/format.h"
#include "controllers/workloads/batch_job_look.h"

namespace controllers::workloads {

using api::Json;
namespace resources = api::resources;

namespace {

constexpr base::Duration kPauseMin = base::seconds(10);
constexpr base::Duration kPauseMax = base::minutes(10);
constexpr std::size_t kBurstMax = 500;
// NumberSet of pods are given one by one; a larger one is somebody else's, and those after it could not be read again.
constexpr std::int64_t kGivenMax = 100'000'000'000;
// The numbers of pods are believed up to here, so that what follows stays below the other.
constexpr std::int64_t kBelievedMax = kGivenMax - 1'000'000'000;

bool is_true(const Json& status, std::string_view type) {
  return condition_of(status, type)["status"].as_string() == "True";
}

base::Time ended_at(const Json& pod) {
  base::Time latest{};
  for (const Json& status : pod["status"]["containerStatuses"].items())
    latest = std::max(latest, time_in(status["state"]["terminated"]["finishedAt"]));
  if (!latest.is_set()) latest = time_in(pod["metadata"]["deletionTimestamp"]);
  if (!latest.is_set()) latest = time_in(pod["metadata"]["creationTimestamp"]);
  return latest;
}

}  // namespace

bool is_job_over(const Json& job) { return is_true(job["status"], "Complete") || is_true(job["status"], "Failed"); }

JobLook::JobLook(const View& view, const Json& job, const Turn& turn, RestartPauses& pauses)
    : view_(view),
      job_(job),
      spec_(job["spec"]),
      turn_(turn),
      pauses_(pauses),
      status_(job["status"].is_object() ? job["status"] : Json::object()),
      indexed_(spec_["completionMode"].as_string() == "Indexed"),
      completions_(spec_["completions"].is_null() ? -1 : spec_["completions"].as_int()),
      failed_(status_["failed"].as_int()),
      succeeded_(status_["succeeded"].as_int()) {
  if (indexed_)
    done_ = NumberSet::parse(status_["completedIndexes"].as_string()).value_or(NumberSet()).below(completions_);
}

Plan JobLook::take() {
  plan_.set_subject(job_);
  const auto selector = selector_of(job_);
  if (!selector || api::is_deleting(job_) || is_job_over(job_)) return std::move(plan_);
  if (const Json& by = spec_["managedBy"]; by.is_string() && by.as_string() != "kubernetes.io/job-controller")
    return std::move(plan_);
  claimed_ = claim(view_, resources::kPods, job_, *selector);
  sort_out();
  pauses_.begin_look(turn_.now);
  for (const Owned& one : pods_) pauses_.see({}, *one.pod);
  pauses_.end_look();
  adopt();
  count_ended();
  suspend_or_resume();
  judge();
  if (ending_.empty() && !suspended_) {
    plan_pods();
  } else {
    for (const Running& one : running_) give_up(one);
    running_.clear();
  }
  finish();
  write();
  return std::move(plan_);
}

void JobLook::sort_out() {
  const std::string_view record = api::annotation_of(job_, kSettled);
  auto known = NumberSet::parse(record);
  if (known && known->highest() > kGivenMax) known.reset();
  settled_ = known.value_or(NumberSet());
  for (const Json* pod : claimed_.owned) {
    const auto number = NumberSet::parse(api::annotation_of(*pod, kPodNumber));
    const bool is_ours = number && number->count() == 1 && number->highest() <= kBelievedMax;
    const std::int64_t value = is_ours ? number->highest() : -1;
    next_ = std::max(next_, value + 1);
    pods_.push_back({pod, value});
  }
  next_ = std::max(next_, settled_.highest() + 1);
  // Somebody took the record away: what has ended and is in the counts must not come into them again.
  if ((record.empty() || !known) && failed_ + succeeded_ > 0) {
    std::int64_t left = failed_ + succeeded_;
    for (const auto& [pod, number] : pods_)
      if (is_over(*pod) && number >= 0 && left-- > 0) settled_.add(number);
  }
}

// Pods that the Job takes over, and such of ours whose number was taken away, get one.
void JobLook::adopt() {
  const auto number = [this](const Json& pod, bool take_over) {
    Json metadata = Json::object({{"uid", api::uid_of(pod)},
                                  {"resourceVersion", api::resource_version_of(pod)},
                                  {"annotations", Json::object({{kPodNumber, std::to_string(next_++)}})}});
    if (take_over) {
      Json references = pod["metadata"]["ownerReferences"];
      references.push_back(owner_reference(job_, "batch/v1", "Job"));
      metadata.set("ownerReferences", std::move(references));
    }
    plan_.patch(resources::kPods, pod, client::PatchType::kMerge, Json::object({{"metadata", std::move(metadata)}}))
        .missing_is_fine = true;
    renumbers_ = true;
  };
  for (const Json* pod : claimed_.adopt) number(*pod, true);
  for (const Owned& one : pods_)
    if (one.number < 0 && !api::is_deleting(*one.pod)) number(*one.pod, false);
  const Claim released{.owned = {}, .adopt = {}, .release = claimed_.release};
  settle_claim(plan_, resources::kPods, released, job_, "batch/v1", "Job");
}

std::int64_t JobLook::index_of(const Json& pod) const {
  const auto index = NumberSet::parse(api::annotation_of(pod, "batch.kubernetes.io/job-completion-index"));
  return index && index->count() == 1 ? index->highest() : -1;
}

void JobLook::count_ended() {
  const bool waits_for_end = spec_["podReplacementPolicy"].as_string() == "Failed";
  for (const Owned& one : pods_) {
    const Json& pod = *one.pod;
    const bool leaves = api::is_deleting(pod);
    if (leaves && !is_over(pod)) ++terminating_;
    if (one.number < 0) continue;
    const std::string_view phase = pod["status"]["phase"].as_string();
    if (settled_.has(one.number)) {
      if (!is_over(pod) && !leaves) abandoned_.push_back(one.pod);
      if (phase == "Failed") failures_.push_back(ended_at(pod));
      if (phase == "Succeeded") last_success_ = std::max(last_success_, ended_at(pod));
      if (leaves && !is_over(pod) && waits_for_end) ++held_;
      continue;
    }
    if (phase == "Succeeded") {
      settled_.add(one.number);
      last_success_ = std::max(last_success_, ended_at(pod));
      if (!indexed_)
        ++succeeded_;
      else if (const std::int64_t index = index_of(pod); index >= 0 && index < completions_)
        done_.add(index);
    } else if (phase == "Failed" || (leaves && !waits_for_end)) {
      settled_.add(one.number);
      count_failure(pod);
    } else if (leaves) {
      ++held_;
    } else {
      running_.push_back({one.pod, one.number, index_of(pod)});
    }
  }
  if (indexed_) succeeded_ = done_.count();
}

void JobLook::count_failure(const Json& pod) {
  // The next pod waits for a failure that counts for nothing, too: it would come again at once.
  failures_.push_back(ended_at(pod));
  const Verdict verdict = judge_failure(spec_["podFailurePolicy"], pod);
  if (verdict.action == "Ignore") return;
  if (verdict.action == "FailJob" && verdict_.empty()) verdict_ = verdict.message;
  ++failed_;
}

void JobLook::set_condition(std::string_view type, std::string_view status, std::string_view reason,
                            std::string message) {
  const std::string now = base::format_rfc3339(turn_.now);
  Json kept = Json::array();
  for (const Json& one : status_["conditions"].items())
    if (one["type"].as_string() != type) kept.push_back(one);
  kept.push_back(Json::object({{"type", type},
                               {"status", status},
                               {"lastProbeTime", now},
                               {"lastTransitionTime", now},
                               {"reason", reason},
                               {"message", std::move(message)}}));
  status_.set("conditions", std::move(kept));
}

void JobLook::suspend_or_resume() {
  const bool wants = spec_["suspend"].as_bool();
  const Json before = condition_of(status_, "Suspended");
  const bool was = before["status"].as_string() == "True";
  suspended_ = wants;
  if (wants && !was) {
    set_condition("Suspended", "True", "JobSuspended", "Job suspended");
    events_.emplace_back("Normal", "Suspended", "Job suspended");
  } else if (!wants && was) {
    set_condition("Suspended", "False", "JobResumed", "Job resumed");
    events_.emplace_back("Normal", "Resumed", "Job resumed");
    status_.set("startTime", base::format_rfc3339(turn_.now));
  }
  if (!wants && status_["startTime"].is_null()) status_.set("startTime", base::format_rfc3339(turn_.now));
}

std::int64_t JobLook::restarts() const {
  std::int64_t sum = 0;
  for (const Running& one : running_)
    for (const char* list : {"initContainerStatuses", "containerStatuses"})
      for (const Json& status : (*one.pod)["status"][list].items()) sum += status["restartCount"].as_int();
  return sum;
}

// Whether the Job has reached its end, which begins with a condition that stands until all pods are gone.
void JobLook::judge() {
  for (const char* type : {"FailureTarget", "SuccessCriteriaMet"})
    if (is_true(status_, type)) {
      ending_ = type;
      return;
    }
  const auto end = [this](std::string_view type, std::string_view reason, std::string message) {
    ending_ = type;
    set_condition(type, "True", reason, std::move(message));
  };
  if (!verdict_.empty()) return end("FailureTarget", "PodFailurePolicy", verdict_);
  const std::int64_t limit = spec_["backoffLimit"].as_int(6);
  const bool restarts_count = spec_["template"]["spec"]["restartPolicy"].as_string() == "OnFailure";
  const std::int64_t again = restarts_count ? restarts() : 0;
  if (failed_ > limit || (again > 0 && again >= limit))
    return end("FailureTarget", "BackoffLimitExceeded", "Job has reached the specified backoff limit");
  if (const Json& deadline = spec_["activeDeadlineSeconds"]; !deadline.is_null() && !suspended_) {
    const base::Time ends = time_in(status_["startTime"]) + base::seconds(deadline.as_int());
    if (ends <= turn_.now)
      return end("FailureTarget", "DeadlineExceeded", "Job was active longer than specified deadline");
    plan_.requeue_after(ends - turn_.now);
  }
  const bool complete =
      completions_ >= 0 ? succeeded_ >= completions_ : succeeded_ > 0 && running_.empty() && held_ == 0;
  if (complete && !(suspended_ && completions_ < 0))
    end("SuccessCriteriaMet", "CompletionsReached", "Reached expected number of succeeded pods");
}

void JobLook::give_up(const Running& one) {
  settled_.add(one.number);
  abandoned_.push_back(one.pod);
  if (ending_ == "FailureTarget") ++failed_;
}

void JobLook::plan_pods() {
  const std::int64_t parallelism = spec_["parallelism"].as_int(1);
  std::int64_t wanted = parallelism;
  if (completions_ >= 0)
    wanted = std::min(parallelism, completions_ - succeeded_);
  else if (succeeded_ > 0)
    wanted = std::min<std::int64_t>(parallelism, static_cast<std::int64_t>(running_.size()));
  std::vector<Running> kept;
  NumberSet taken;
  for (const Running& one : running_) {  // an index is worked at once, and only while it is wanted
    const bool spare =
        indexed_ && (one.index < 0 || one.index >= completions_ || done_.has(one.index) || taken.has(one.index));
    if (spare) {
      give_up(one);
      continue;
    }
    if (indexed_) taken.add(one.index);
    kept.push_back(one);
  }
  std::ranges::stable_sort(
      kept, [&](const Running& a, const Running& b) { return goes_before({a.pod}, {b.pod}, turn_.now); });
  const std::int64_t surplus = static_cast<std::int64_t>(kept.size()) - std::max<std::int64_t>(wanted, 0);
  for (std::int64_t i = 0; i < surplus; ++i) give_up(kept[static_cast<std::size_t>(i)]);
  if (surplus > 0) kept.erase(kept.begin(), kept.begin() + surplus);
  running_ = std::move(kept);
  const std::int64_t missing = wanted - static_cast<std::int64_t>(running_.size()) - held_;
  if (missing <= 0 || renumbers_) return;
  const base::Duration pause = std::max(pause_left(), pauses_.left({}, turn_.now));
  if (pause > base::Duration{}) return plan_.requeue_after(pause);
  make_ = std::min(static_cast<std::size_t>(missing), kBurstMax);
  if (!indexed_) return;
  for (std::int64_t index = 0; indexes_.size() < make_; ++index) {
    // There may be billions that are done.
    for (std::int64_t from = -1; from != index;) {
      from = index;
      index = taken.first_absent(done_.first_absent(index));
    }
    if (index >= completions_) break;
    indexes_.push_back(index);
  }
  make_ = indexes_.size();
}

// Ten seconds after a first failure, twice as long after each further one without a success between them. Failures that
// are ignored count here.
base::Duration JobLook::pause_left() const {
  base::Time last{};
  int count = 0;
  for (const base::Time at : failures_) {
    if (at <= last_success_) continue;
    ++count;
    last = std::max(last, at);
  }
  if (count == 0) return {};
  base::Duration pause = kPauseMin;
  for (int i = 1; i < count && pause < kPauseMax; ++i) pause = pause * 2;
  const base::Time ends = last + std::min(pause, kPauseMax);
  return ends > turn_.now ? ends - turn_.now : base::Duration{};
}

void JobLook::finish() {
  // Pods that are told to go now are still there.
  if (ending_.empty() || terminating_ > 0 || !abandoned_.empty()) return;
  const Json cause = condition_of(status_, ending_);
  const bool complete = ending_ == "SuccessCriteriaMet";
  set_condition(complete ? "Complete" : "Failed", "True", cause["reason"].as_string(), cause["message"].str());
  if (complete) {
    status_.set("completionTime", base::format_rfc3339(turn_.now));
    events_.emplace_back("Normal", "Completed", "Job completed");
  } else {
    events_.emplace_back("Warning", cause["reason"].str(), cause["message"].str());
  }
}

void JobLook::write() {
  std::int64_t ready = 0;
  for (const Running& one : running_) ready += is_ready(*one.pod);
  set_count(status_, "active", static_cast<std::int64_t>(running_.size()));
  set_count(status_, "failed", failed_);
  set_count(status_, "succeeded", succeeded_);
  status_.set("ready", ready);
  status_.set("terminating", terminating_);
  status_.set("uncountedTerminatedPods", Json::object());
  if (indexed_ && done_.count() > 0) status_.set("completedIndexes", done_.text());
  const std::string record = settled_.text();
  const bool new_record = api::annotation_of(job_, kSettled) != record;
  plan_.begin_stage();
  // A job that is given up or ended is written before anything is done about it.
  const bool only_numbers = !new_record && make_ > 0;
  Json next = job_;
  if (new_record) next.edit_path({"metadata", "annotations"}).set(kSettled, record);
  next.set("status", status_);
  const bool is_new = new_record || status_ != job_["status"];
  const bool waits = !new_record && turn_.counts_wait > base::Duration{} &&
                     differs_in_numbers_only(job_["status"], status_) &&
                     job_["status"]["startTime"] == status_["startTime"];
  if (is_new && waits)
    plan_.requeue_after(turn_.counts_wait);
  else if (is_new && !(only_numbers && !job_["status"]["startTime"].is_null() &&
                       differs_in_numbers_only(job_["status"], status_)))
    plan_.set_status(kBatchJobs, std::move(next));
  plan_.begin_stage();
  for (auto& [type, reason, message] : events_) plan_.event(job_, type, reason, message);
  for (const Json* pod : abandoned_) {
    pauses_.forget(api::uid_of(*pod));
    Action& action = plan_.remove(resources::kPods, *pod);
    action.success_reason = "SuccessfulDelete";
    action.success_text = "Deleted pod: {}";
    action.success_name = std::string(api::name_of(*pod));
    action.stops_nothing = true;
  }
  create_pods();
}

void JobLook::create_pods() {
  std::size_t batch = turn_.failures > 0 ? 1 : std::max<std::size_t>(make_, 1);
  for (std::size_t made = 0; made < make_; batch *= 2) {
    plan_.begin_stage();
    for (std::size_t i = 0; i < batch && made < make_; ++i, ++made) create_pod(made);
  }
}

void JobLook::create_pod(std::size_t at) {
  const std::string prefix =
      indexed_ ? base::format("{}-{}", api::name_of(job_), indexes_[at]) : std::string(api::name_of(job_));
  std::string name = fresh_name(view_, resources::kPods, job_, prefix, turn_.now, at);
  Json pod = pod_from(spec_["template"], job_, "batch/v1", "Job", name);
  Json& metadata = pod.edit("metadata");
  metadata.set("generateName", prefix + "-");
  metadata.edit("annotations").set(kPodNumber, std::to_string(next_ + static_cast<std::int64_t>(at)));
  if (indexed_) {
    constexpr std::string_view kIndex = "batch.kubernetes.io/job-completion-index";
    for (const char* part : {"annotations", "labels"}) metadata.edit(part).set(kIndex, std::to_string(indexes_[at]));
    if (pod["spec"]["hostname"].as_string().empty()) pod.edit("spec").set("hostname", prefix);
    const Json variable = Json::object(
        {{"name", "JOB_COMPLETION_INDEX"},
         {"valueFrom",
          Json::object({{"fieldRef", Json::object({{"fieldPath", base::format("metadata.labels['{}']", kIndex)}})}})}});
    for (const char* list : {"initContainers", "containers"})
      for (std::size_t i = 0; i < pod["spec"][list].size(); ++i) {
        Json& container = pod.edit("spec").edit(list).edit(i);
        const bool has = std::ranges::any_of(container["env"].items(), [](const Json& one) {
          return one["name"].as_string() == "JOB_COMPLETION_INDEX";
        });
        if (!has) container.edit("env").push_back(variable);
      }
  }
  Action& action = plan_.create(resources::kPods, std::move(pod));
  action.success_reason = "SuccessfulCreate";
  action.success_text = "Created pod: {}";
  action.success_name = std::move(name);
  action.failure_reason = "FailedCreate";
  action.failure_text = "Error creating: {}";
  action.stops_nothing = turn_.failures == 0;
}

namespace {

class BatchJobController final : public Controller {
 public:
  std::string_view name() const override { return "batch-job-controller"; }
  std::string_view component() const override { return "job-controller"; }

  std::vector<Write> writes() const override {
    return {{resources::kPods, "create patch delete"}, {kBatchJobs, "update", "status"}};
  }
  std::vector<Wake> wakes_on() const override {
    return {
        {kBatchJobs, [](const View&, const Json& job) { return Keys{api::key_of(job)}; }},
        {resources::kPods, [](const View& view, const Json& pod) { return owners_of(view, pod, kBatchJobs, "Job"); }}};
  }
  std::vector<IndexBy> indexes() const override { return ownership_indexes(resources::kPods); }
  Plan step(const View& view, const std::string& key, const Turn& turn) override {
    const Json* job = view.find(kBatchJobs, key);
    if (job != nullptr) return JobLook(view, *job, turn, pauses_.of(key)).take();
    pauses_.forget(key);
    return {};
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
