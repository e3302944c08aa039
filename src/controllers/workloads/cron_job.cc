// One look at a CronJob: its Jobs and their history first, then the run that is due.
//
// A Job's name is made of the minute it is due at, so that no run is started twice.
#include "controllers/workloads/cron_job.h"

#include <algorithm>
#include <map>

#include "api/cron.h"
#include "base/format.h"
#include "controllers/framework/pauses.h"
#include "controllers/framework/references.h"
#include "controllers/workloads/batch_job.h"
#include "controllers/workloads/pods.h"

namespace controllers::workloads {

using api::Json;
using base::Duration;
using base::Time;

namespace {

constexpr int kMissedMax = 100;
constexpr Duration kTimerMax = base::minutes(10);  // a timer stands still while the machine sleeps
constexpr std::string_view kScheduledAt = "batch.kubernetes.io/cronjob-scheduled-timestamp";

class CronJobStep {
 public:
  CronJobStep(const View& view, const Json& cron_job, const Turn& turn, const base::TimeZone& local)
      : view_(view), cron_job_(cron_job), spec_(cron_job["spec"]), turn_(turn), local_(local) {
    last_schedule_ = time_in(cron_job["status"]["lastScheduleTime"]);
    // COMPAT(cronjob-clock): runs count from now on.
    if (last_schedule_ > turn.now + kClockErrorMax) last_schedule_ = turn.now;
    last_success_ = time_in(cron_job["status"]["lastSuccessfulTime"]);
    for (const Json& one : cron_job["status"]["active"].items()) was_active_.emplace(one["uid"].as_string(), &one);
  }

  Plan take() {
    plan_.set_subject(cron_job_);
    if (api::is_deleting(cron_job_)) return std::move(plan_);
    for (const Json* job : controlled_by(view_, kBatchJobs, cron_job_)) sort(*job);
    if (!spec_["suspend"].as_bool()) find_run();
    write();
    return std::move(plan_);
  }

 private:
  void sort(const Json& job) {
    const bool was_active = was_active_.contains(api::uid_of(job));
    if (!is_job_over(job)) {
      if (api::is_deleting(job)) return;
      // A Job of ours that the status does not know was made just before a crash, or just now. One that a person made
      // from the template (kubectl create job --from) is not a run.
      const auto due = base::parse_rfc3339(api::annotation_of(job, kScheduledAt));
      if (due && *due <= turn_.now) last_schedule_ = std::max(last_schedule_, *due);
      if (due || was_active) active_.push_back(&job);
      return;
    }
    const bool complete = condition_of(job["status"], "Complete")["status"].as_string() == "True";
    if (was_active)
      events_.emplace_back("SawCompletedJob", base::format("Saw completed job: {}, condition: {}", api::name_of(job),
                                                           complete ? "Complete" : "Failed"));
    if (complete) last_success_ = std::max(last_success_, time_in(job["status"]["completionTime"]));
    if (!api::is_deleting(job)) (complete ? succeeded_ : failed_).push_back(&job);
  }

  void find_run() {
    base::TimeZone zone = local_;
    if (const Json& name = spec_["timeZone"]; !name.as_string().empty()) {
      auto loaded = base::TimeZone::load(name.str());
      if (!loaded.ok())
        return warn("UnknownTimeZone", base::format("invalid timeZone: {}: {}", name.dump(), loaded.error().message));
      zone = *std::move(loaded);
    }
    const auto schedule = api::CronSchedule::parse(spec_["schedule"].as_string(), zone);
    if (!schedule.ok())
      return warn("UnparseableSchedule",
                  base::format("unparseable schedule: {}: {}", spec_["schedule"].dump(), schedule.error().message));
    Time since = last_schedule_.is_set() ? last_schedule_ : time_in(cron_job_["metadata"]["creationTimestamp"]);
    const Json& deadline = spec_["startingDeadlineSeconds"];
    if (deadline.is_number()) since = std::max(since, turn_.now - base::seconds(deadline.as_int()));
    if (const auto next = schedule->next(turn_.now)) plan_.requeue_after(std::min(*next - turn_.now, kTimerMax));
    const auto due = schedule->latest(since, turn_.now);
    if (!due) return;
    if (schedule->count(since, turn_.now, kMissedMax + 1) > kMissedMax)
      plan_.event(cron_job_, "Warning", "TooManyMissedTimes",
                  base::format("too many missed start times: > {}. Set or decrease .spec.startingDeadlineSeconds or "
                               "check clock skew",
                               kMissedMax));
    const std::string_view policy = spec_["concurrencyPolicy"].as_string();
    if (policy == "Forbid" && !active_.empty())
      return warn("JobAlreadyActive",
                  "Not starting job because prior execution is running and concurrency policy "
                  "is Forbid");
    if (policy == "Replace") replaced_ = active_;
    make_job(*due);
  }

  void warn(std::string_view reason, std::string text) { warnings_.emplace_back(reason, std::move(text)); }

  void make_job(Time due) {
    const std::string name = base::format("{}-{}", api::name_of(cron_job_), due.ns / 60'000'000'000);
    last_schedule_ = due;
    if (view_.find(kBatchJobs, base::format("{}/{}", api::namespace_of(cron_job_), name))) return;  // made already
    const Json& pattern = spec_["jobTemplate"];
    Json metadata = Json::object({{"name", name}, {"namespace", api::namespace_of(cron_job_)}});
    for (const char* key : {"labels", "annotations"})
      if (const Json& value = pattern["metadata"][key]; !value.empty()) metadata.set(key, value);
    metadata.edit("annotations").set(kScheduledAt, base::format_rfc3339(due));
    metadata.set("ownerReferences", Json::array({owner_reference(cron_job_, "batch/v1", "CronJob")}));
    make_ = Json::object(
        {{"apiVersion", "batch/v1"}, {"kind", "Job"}, {"metadata", std::move(metadata)}, {"spec", pattern["spec"]}});
  }

  void drop_oldest(std::vector<const Json*> jobs, std::int64_t limit) {
    std::ranges::sort(jobs, [](const Json* a, const Json* b) {
      const Time one = time_in((*a)["status"]["startTime"]);
      const Time other = time_in((*b)["status"]["startTime"]);
      return one != other ? one > other : api::name_of(*a) > api::name_of(*b);
    });
    for (std::size_t i = static_cast<std::size_t>(std::max<std::int64_t>(limit, 0)); i < jobs.size(); ++i)
      remove(*jobs[i]);
  }

  void remove(const Json& job) {
    Action& action = plan_.remove(kBatchJobs, job);
    action.body.set("propagationPolicy", "Background");
    action.success_reason = "SuccessfulDelete";
    action.success_text = base::format("Deleted job {}", api::name_of(job));
    action.stops_nothing = true;
  }

  void write() {
    for (const auto& [reason, text] : warnings_) plan_.event(cron_job_, "Warning", reason, text);
    drop_oldest(succeeded_, spec_["successfulJobsHistoryLimit"].as_int(3));
    drop_oldest(failed_, spec_["failedJobsHistoryLimit"].as_int(1));
    for (const Json* job : replaced_) remove(*job);
    if (!make_.is_null()) {
      plan_.begin_stage();
      Action& action = plan_.create(kBatchJobs, make_);
      action.existing_is_fine = true;
      action.success_reason = "SuccessfulCreate";
      action.success_text = base::format("Created job {}", api::name_of(make_));
      action.failure_reason = "FailedCreate";
      action.failure_text = "Error creating job: {}";
      return;  // the Job wakes us, and the status is written then
    }
    Json status = cron_job_["status"].is_object() ? cron_job_["status"] : Json::object();
    Json active = Json::array();
    for (const Json* job : active_) active.push_back(known_reference(*job));
    status.erase("active");
    if (!active.empty()) status.set("active", std::move(active));
    if (last_schedule_.is_set()) status.set("lastScheduleTime", base::format_rfc3339(last_schedule_));
    if (last_success_.is_set()) status.set("lastSuccessfulTime", base::format_rfc3339(last_success_));
    if (status == cron_job_["status"] || (status.empty() && cron_job_["status"].empty())) return;
    plan_.begin_stage();
    Json next = cron_job_;
    next.set("status", std::move(status));
    plan_.set_status(kBatchCronJobs, std::move(next));
    plan_.begin_stage();
    for (const auto& [reason, text] : events_) plan_.event(cron_job_, "Normal", reason, text);
  }

  // As it was written first: that a Job changes is not a reason to write its CronJob.
  Json known_reference(const Json& job) const {
    const auto found = was_active_.find(api::uid_of(job));
    return found == was_active_.end() ? reference_to("batch/v1", "Job", job) : *found->second;
  }

  const View& view_;
  const Json& cron_job_;
  const Json& spec_;
  const Turn& turn_;
  const base::TimeZone& local_;
  Plan plan_;
  Time last_schedule_;
  Time last_success_;
  std::map<std::string_view, const Json*> was_active_;  // references of the status, by uid
  std::vector<const Json*> active_, succeeded_, failed_, replaced_;
  std::vector<std::pair<std::string, std::string>> events_, warnings_;
  Json make_;
};

class CronJobController final : public Controller {
 public:
  explicit CronJobController(base::TimeZone local) : local_(std::move(local)) {}

  std::string_view name() const override { return "batch-cronjob-controller"; }
  std::string_view component() const override { return "cronjob-controller"; }

  std::vector<Write> writes() const override {
    return {{kBatchJobs, "create delete"}, {kBatchCronJobs, "update", "status"}};
  }
  std::vector<Wake> wakes_on() const override {
    return {{kBatchCronJobs, [](const View&, const Json& one) { return Keys{api::key_of(one)}; }},
            {kBatchJobs, [](const View&, const Json& job) {
               const Json& owner = api::controller_of(job);
               if (owner["kind"].as_string() != "CronJob" || owner["apiVersion"].as_string() != "batch/v1")
                 return Keys{};
               return Keys{base::format("{}/{}", api::namespace_of(job), owner["name"].as_string())};
             }}};
  }
  std::vector<IndexBy> indexes() const override { return ownership_indexes(kBatchJobs); }
  Plan step(const View& view, const std::string& key, const Turn& turn) override {
    const Json* cron_job = view.find(kBatchCronJobs, key);
    return cron_job ? CronJobStep(view, *cron_job, turn, local_).take() : Plan();
  }

 private:
  base::TimeZone local_;
};

}  // namespace

std::unique_ptr<Controller> make_batch_cron_job_controller(base::TimeZone local) {
  return std::make_unique<CronJobController>(std::move(local));
}

}  // namespace controllers::workloads
