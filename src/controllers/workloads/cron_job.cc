// One look at a CronJob: its Jobs and their history first, then the run that is due.
//
// A Job's name is made of the minute it is due at, so that no run is started twice.
#include "controllers/workloads/cron_job.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>

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

// All that a look at a CronJob may see.
struct Observed {
  const Json& cron_job;
  std::vector<const Json*> jobs;  // that it controls
};

// Finds a Job of the CronJob's namespace by its name, whoever made it.
using FindJob = std::function<const Json*(std::string_view name)>;

// The Jobs of a CronJob by what became of them, and what its status says of them.
struct JobFindings {
  Time last_schedule;
  Time last_success;
  std::map<std::string_view, const Json*> was_active = {};  // references of the status, by uid
  std::vector<const Json*> active = {}, succeeded = {}, failed = {};
  std::vector<std::pair<std::string, std::string>> events = {};  // reason and text
};

// The run that is due, as far as there is one.
struct Run {
  Json job = {};                           // to create; null: none
  std::vector<const Json*> replaced = {};  // Jobs that make room for it
  std::optional<Duration> look_again = {};
  std::vector<std::pair<std::string, std::string>> warnings = {};  // reason and text
};

void sort_in(const Json& job, Time now, JobFindings& found) {
  const bool was_active = found.was_active.contains(api::uid_of(job));
  if (!is_job_over(job)) {
    if (api::is_deleting(job)) return;
    // A Job of ours that the status does not know was made just before a crash, or just now. One that a person made
    // from the template (kubectl create job --from) is not a run.
    const auto due = base::parse_rfc3339(api::annotation_of(job, kScheduledAt));
    if (due && *due <= now) found.last_schedule = std::max(found.last_schedule, *due);
    if (due || was_active) found.active.push_back(&job);
    return;
  }
  const bool complete = condition_of(job["status"], "Complete")["status"].as_string() == "True";
  if (was_active)
    found.events.emplace_back("SawCompletedJob", base::format("Saw completed job: {}, condition: {}", api::name_of(job),
                                                              complete ? "Complete" : "Failed"));
  if (complete) found.last_success = std::max(found.last_success, time_in(job["status"]["completionTime"]));
  if (!api::is_deleting(job)) (complete ? found.succeeded : found.failed).push_back(&job);
}

JobFindings look_at_jobs(const Observed& seen, Time now) {
  const Json& status = seen.cron_job["status"];
  JobFindings found{.last_schedule = time_in(status["lastScheduleTime"]),
                    .last_success = time_in(status["lastSuccessfulTime"])};
  // COMPAT(cronjob-clock): runs count from now on.
  if (found.last_schedule > now + kClockErrorMax) found.last_schedule = now;
  for (const Json& one : status["active"].items()) found.was_active.emplace(one["uid"].as_string(), &one);
  for (const Json* job : seen.jobs) sort_in(*job, now, found);
  return found;
}

std::string job_name(const Json& cron_job, Time due) {
  return base::format("{}-{}", api::name_of(cron_job), due.ns / 60'000'000'000);
}

Json make_job(const Json& cron_job, Time due) {
  const Json& pattern = cron_job["spec"]["jobTemplate"];
  Json metadata = Json::object({{"name", job_name(cron_job, due)}, {"namespace", api::namespace_of(cron_job)}});
  for (const char* key : {"labels", "annotations"})
    if (const Json& value = pattern["metadata"][key]; !value.empty()) metadata.set(key, value);
  metadata.edit("annotations").set(kScheduledAt, base::format_rfc3339(due));
  metadata.set("ownerReferences", Json::array({owner_reference(cron_job, "batch/v1", "CronJob")}));
  return Json::object(
      {{"apiVersion", "batch/v1"}, {"kind", "Job"}, {"metadata", std::move(metadata)}, {"spec", pattern["spec"]}});
}

// The schedule in its zone. Nothing: it cannot be read, and a warning says why.
std::optional<api::CronSchedule> read_schedule(const Json& spec, const base::TimeZone& local, Run& run) {
  base::TimeZone zone = local;
  if (const Json& name = spec["timeZone"]; !name.as_string().empty()) {
    auto loaded = base::TimeZone::load(name.str());
    if (!loaded.ok()) {
      run.warnings.emplace_back("UnknownTimeZone",
                                base::format("invalid timeZone: {}: {}", name.dump(), loaded.error().message));
      return std::nullopt;
    }
    zone = *std::move(loaded);
  }
  auto schedule = api::CronSchedule::parse(spec["schedule"].as_string(), zone);
  if (schedule.ok()) return *std::move(schedule);
  run.warnings.emplace_back("UnparseableSchedule", base::format("unparseable schedule: {}: {}", spec["schedule"].dump(),
                                                                schedule.error().message));
  return std::nullopt;
}

// Writes down in `found` when a run was made last.
Run find_run(const Observed& seen, const FindJob& find_job, Time now, const base::TimeZone& local, JobFindings& found) {
  Run run;
  const Json& spec = seen.cron_job["spec"];
  const auto schedule = read_schedule(spec, local, run);
  if (!schedule) return run;
  Time since =
      found.last_schedule.is_set() ? found.last_schedule : time_in(seen.cron_job["metadata"]["creationTimestamp"]);
  const Json& deadline = spec["startingDeadlineSeconds"];
  if (deadline.is_number()) since = std::max(since, now - base::seconds(deadline.as_int()));
  if (const auto next = schedule->next(now)) run.look_again = std::min(*next - now, kTimerMax);
  const auto due = schedule->latest(since, now);
  if (!due) return run;
  if (schedule->count(since, now, kMissedMax + 1) > kMissedMax)
    run.warnings.emplace_back(
        "TooManyMissedTimes",
        base::format("too many missed start times: > {}. Set or decrease .spec.startingDeadlineSeconds or "
                     "check clock skew",
                     kMissedMax));
  const std::string_view policy = spec["concurrencyPolicy"].as_string();
  if (policy == "Forbid" && !found.active.empty()) {
    run.warnings.emplace_back("JobAlreadyActive",
                              "Not starting job because prior execution is running and concurrency policy is Forbid");
    return run;
  }
  if (policy == "Replace") run.replaced = found.active;
  found.last_schedule = *due;
  if (!find_job(job_name(seen.cron_job, *due))) run.job = make_job(seen.cron_job, *due);  // or it was made already
  return run;
}

void remove(const Json& job, Plan& plan) {
  Action& action = plan.remove(kBatchJobs, job);
  action.body.set("propagationPolicy", "Background");
  action.success_reason = "SuccessfulDelete";
  action.success_text = base::format("Deleted job {}", api::name_of(job));
  action.stops_nothing = true;
}

void drop_oldest(std::vector<const Json*> jobs, std::int64_t limit, Plan& plan) {
  std::ranges::sort(jobs, [](const Json* a, const Json* b) {
    const Time one = time_in((*a)["status"]["startTime"]);
    const Time other = time_in((*b)["status"]["startTime"]);
    return one != other ? one > other : api::name_of(*a) > api::name_of(*b);
  });
  for (std::size_t i = static_cast<std::size_t>(std::max<std::int64_t>(limit, 0)); i < jobs.size(); ++i)
    remove(*jobs[i], plan);
}

Json status_of(const Json& cron_job, const JobFindings& found) {
  Json status = cron_job["status"].is_object() ? cron_job["status"] : Json::object();
  Json active = Json::array();
  for (const Json* job : found.active) {
    // As it was written first: that a Job changes is not a reason to write its CronJob.
    const auto known = found.was_active.find(api::uid_of(*job));
    active.push_back(known == found.was_active.end() ? reference_to("batch/v1", "Job", *job) : *known->second);
  }
  status.erase("active");
  if (!active.empty()) status.set("active", std::move(active));
  if (found.last_schedule.is_set()) status.set("lastScheduleTime", base::format_rfc3339(found.last_schedule));
  if (found.last_success.is_set()) status.set("lastSuccessfulTime", base::format_rfc3339(found.last_success));
  return status;
}

void write_status(const Json& cron_job, const JobFindings& found, Plan& plan) {
  Json status = status_of(cron_job, found);
  if (status == cron_job["status"] || (status.empty() && cron_job["status"].empty())) return;
  plan.begin_stage();
  Json next = cron_job;
  next.set("status", std::move(status));
  plan.set_status(kBatchCronJobs, std::move(next));
  plan.begin_stage();
  for (const auto& [reason, text] : found.events) plan.event(cron_job, "Normal", reason, text);
}

Plan compose(const Json& cron_job, const JobFindings& found, const Run& run) {
  Plan plan;
  plan.set_subject(cron_job);
  if (run.look_again) plan.requeue_after(*run.look_again);
  for (const auto& [reason, text] : run.warnings) plan.event(cron_job, "Warning", reason, text);
  drop_oldest(found.succeeded, cron_job["spec"]["successfulJobsHistoryLimit"].as_int(3), plan);
  drop_oldest(found.failed, cron_job["spec"]["failedJobsHistoryLimit"].as_int(1), plan);
  for (const Json* job : run.replaced) remove(*job, plan);
  if (run.job.is_null()) {
    write_status(cron_job, found, plan);
    return plan;
  }
  // The Job wakes us, and the status is written then.
  plan.begin_stage();
  Action& action = plan.create(kBatchJobs, run.job);
  action.existing_is_fine = true;
  action.success_reason = "SuccessfulCreate";
  action.success_text = base::format("Created job {}", api::name_of(run.job));
  action.failure_reason = "FailedCreate";
  action.failure_text = "Error creating job: {}";
  return plan;
}

Plan decide(const Observed& seen, const FindJob& find_job, Time now, const base::TimeZone& local) {
  if (api::is_deleting(seen.cron_job)) return {};
  JobFindings found = look_at_jobs(seen, now);
  Run run;
  if (!seen.cron_job["spec"]["suspend"].as_bool()) run = find_run(seen, find_job, now, local, found);
  return compose(seen.cron_job, found, run);
}

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
    if (!cron_job) return {};
    const FindJob find_job = [&view, cron_job](std::string_view job) {
      return view.find(kBatchJobs, base::format("{}/{}", api::namespace_of(*cron_job), job));
    };
    return decide({*cron_job, controlled_by(view, kBatchJobs, *cron_job)}, find_job, turn.now, local_);
  }

 private:
  base::TimeZone local_;
};

}  // namespace

std::unique_ptr<Controller> make_batch_cron_job_controller(base::TimeZone local) {
  return std::make_unique<CronJobController>(std::move(local));
}

}  // namespace controllers::workloads
