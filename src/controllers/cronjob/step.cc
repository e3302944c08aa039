// One look at a CronJob: first what became of its Jobs, then which run is due, then what is done about it.
#include "controllers/cronjob/step.h"

#include <algorithm>
#include <optional>
#include <set>

#include "api/cron.h"
#include "api/meta/resource.h"
#include "base/format.h"
#include "controllers/framework/pauses.h"
#include "controllers/framework/references.h"
#include "controllers/job/job.h"

namespace controllers::cronjob {

using api::Json;
using base::Duration;
using base::Time;
namespace resources = api::resources;

namespace {

constexpr std::size_t kJobNameMax = 63;
constexpr int kMissedMax = 100;
// Between two questions about a Job that no view shows.
constexpr Duration kUnseenPause = base::seconds(1);
// A timer stands still while the machine sleeps, and the clock may be set.
constexpr Duration kTimerMax = base::minutes(10);

job::Phase phase_of(const Json& job) { return job::parse_phase(job["status"]["state"]["phase"].as_string()); }

Time time_in(const Json& text) { return base::parse_rfc3339(text.as_string()).value_or(Time{}); }

// The status as it will be.
struct Status {
  std::vector<Json> listed;                 // references to Jobs, also to those that were dropped
  std::set<std::string, std::less<>> kept;  // uids of the others
  Time last_schedule;
  Time last_successful;

  void add(Json reference) {
    kept.insert(reference["uid"].str());
    listed.push_back(std::move(reference));
  }
  bool has(std::string_view uid) const { return kept.contains(uid); }
  void drop(std::string_view uid) {
    if (const auto found = kept.find(uid); found != kept.end()) kept.erase(found);
  }
  std::vector<Json> active() const {
    std::vector<Json> active;
    for (const Json& one : listed)
      if (has(one["uid"].as_string())) active.push_back(one);
    return active;
  }
  Json json(const Json& before) const {
    Json status = before.is_object() ? before : Json::object();
    status.erase("active");
    if (!kept.empty()) status.set("active", Json::array(active()));
    if (last_schedule.is_set()) status.set("lastScheduleTime", base::format_rfc3339(last_schedule));
    if (last_successful.is_set()) status.set("lastSuccessfulTime", base::format_rfc3339(last_successful));
    return status;
  }
};

class CronJobStep {
 public:
  CronJobStep(const Observed& seen, Memory memory, const Turn& turn, const base::TimeZone& local)
      : seen_(seen),
        cronjob_(*seen.cronjob),
        spec_(cronjob_["spec"]),
        turn_(turn),
        local_(local),
        said_(std::move(memory.said)) {
    decision_.memory = std::move(memory);
    decision_.plan.set_subject(cronjob_);
    const Json& status = cronjob_["status"];
    for (const Json& one : status["active"].items()) status_.add(one);
    status_.last_schedule = std::max(time_in(status["lastScheduleTime"]), decision_.memory.handled);
    status_.last_successful = time_in(status["lastSuccessfulTime"]);
  }

  Decision take() {
    if (api::is_deleting(cronjob_)) return std::move(decision_);
    decision_.memory.looked_at = turn_.now;
    if (find_job(decision_.memory.unseen)) decision_.memory.unseen.clear();
    report_refusal();
    note_finished();
    note_unfinished();
    drop_stale();
    if (!spec_["suspend"].as_bool()) find_run();
    decision_.memory.said = said_.all();
    compose();
    return std::move(decision_);
  }

 private:
  // COMPAT(cronjob-warnings): once for as long as it holds.
  void warn(std::string_view reason, const std::string& text, std::string_view about = {}) {
    if (said_.is_new(base::format("{} {} {}", reason, about, text))) warnings_.emplace_back(reason, text);
  }
  void later(std::string_view type, std::string_view reason, std::string text) {
    after_status_.push_back({std::string(type), std::string(reason), std::move(text)});
  }

  void report_refusal() {
    Memory& memory = decision_.memory;
    if (memory.refused.empty()) return;
    if (memory.namespace_ends)
      warnings_.emplace_back("NamespaceTerminating", base::format("Namespace {} is terminating, skipping job creation",
                                                                  api::namespace_of(cronjob_)));
    else
      warnings_.emplace_back("FailedCreate", "Failed to create job: " + memory.refused);
    memory.refused.clear();
  }

  void note_finished() {
    std::vector<const Json*> completed;
    std::vector<const Json*> failed;
    for (const Json* job : seen_.children) {
      const job::Phase phase = phase_of(*job);
      if (!job::is_finished(phase)) continue;
      if (status_.has(api::uid_of(*job))) {
        status_.drop(api::uid_of(*job));
        later("Normal", "SawCompletedJob", base::format("Saw completed job: {} in active, remove", api::name_of(*job)));
      }
      if (phase == job::Phase::kCompleted) {
        status_.last_successful =
            std::max(status_.last_successful, time_in((*job)["status"]["state"]["lastTransitionTime"]));
        completed.push_back(job);
      } else if (phase == job::Phase::kFailed) {
        failed.push_back(job);
      }
    }
    keep_newest(std::move(completed), spec_["successfulJobsHistoryLimit"].as_int(3));
    keep_newest(std::move(failed), spec_["failedJobsHistoryLimit"].as_int(1));
  }

  void keep_newest(std::vector<const Json*> jobs, std::int64_t limit) {
    std::erase_if(jobs, [](const Json* job) { return api::is_deleting(*job); });
    std::ranges::sort(jobs, [](const Json* a, const Json* b) {
      const Time one = time_in((*a)["metadata"]["creationTimestamp"]);
      const Time other = time_in((*b)["metadata"]["creationTimestamp"]);
      return one != other ? one > other : api::name_of(*a) > api::name_of(*b);
    });
    for (std::size_t i = static_cast<std::size_t>(std::max<std::int64_t>(limit, 0)); i < jobs.size(); ++i)
      history_.push_back(jobs[i]);
  }

  void note_unfinished() {
    for (const Json* job : seen_.children) {
      if (job::is_finished(phase_of(*job)) || status_.has(api::uid_of(*job)) || api::is_deleting(*job)) continue;
      // COMPAT(cronjob-adopts): a Job of ours that the status does not have was made just before a crash, or just now.
      if (const auto due = base::parse_rfc3339(api::annotation_of(*job, kScheduledAt))) {
        status_.add(reference_to("batch.volcano.sh/v1alpha1", "Job", *job));
        if (*due <= turn_.now) status_.last_schedule = std::max(status_.last_schedule, *due);
      } else {
        warn("OrphanedJob", base::format("Detected orphaned job forgotten or not managed by controller: {} (UID: {})",
                                         api::name_of(*job), api::uid_of(*job)));
      }
    }
  }

  void drop_stale() {
    std::set<std::string_view> children;
    for (const Json* job : seen_.children) children.insert(api::uid_of(*job));
    for (const Json& one : status_.active()) {
      const std::string uid = one["uid"].str();
      if (children.contains(uid)) continue;
      const std::string name = one["name"].str();
      const Json* other = find_job(name);
      later("Warning", "StaleReference",
            other ? base::format(R"(Active job reference "{}" points to a different UID (expected: {}, actual: {}))",
                                 name, uid, api::uid_of(*other))
                  : base::format(R"(Active job "{}" no longer exists (UID: {}))", name, uid));
      stale_.emplace_back(name, uid);
      status_.drop(uid);
    }
  }

  const Json* find_job(const std::string& name) const {
    return seen_.view->find(resources::kJobs, base::format("{}/{}", api::namespace_of(cronjob_), name));
  }

  std::optional<api::CronSchedule> read_schedule() {
    const std::string text = spec_["schedule"].str();
    base::TimeZone zone = local_;
    if (text.find("TZ") != std::string::npos)
      warn("UnsupportedSchedule",
           base::format(
               R"(CRON_TZ or TZ in the schedule "{}" is not officially supported. If set, the TimeZone field will )"
               "be ignored during execution.",
               text));
    if (const Json& name = spec_["timeZone"]; name.is_string() && !api::names_time_zone(text)) {
      auto loaded = base::TimeZone::load(name.str());
      if (!loaded.ok()) {
        warn("InvalidTimeZone",
             base::format(R"(Invalid time zone "{}": {})", name.as_string(), loaded.error().message));
        return std::nullopt;
      }
      zone = *loaded;
    }
    auto parsed = api::CronSchedule::parse(text, zone);
    if (parsed.ok()) return *parsed;
    warn("UnParseableCronJobSchedule", base::format("unparseable schedule for cronjob: {}", text));
    return std::nullopt;
  }

  // From when on times are due. A deadline leaves out those that are too late: it moves no time, as it would move those
  // of "@every", of which then none would come.
  Time start() {
    Memory& memory = decision_.memory;
    const std::string schedule = base::format("{} {}", spec_["timeZone"].dump(), spec_["schedule"].dump());
    // Runs that a changed schedule would have started before it was written are not made up for.
    if (!memory.schedule.empty() && memory.schedule != schedule) memory.schedule_since = turn_.now;
    memory.schedule = schedule;
    if (memory.schedule_since > turn_.now + kClockErrorMax) memory.schedule_since = turn_.now;
    // COMPAT(cronjob-clock)
    if (status_.last_schedule > turn_.now + kClockErrorMax) {
      status_.last_schedule = turn_.now;
      memory.handled = {};
    }
    const Time from =
        status_.last_schedule.is_set() ? status_.last_schedule : time_in(cronjob_["metadata"]["creationTimestamp"]);
    return std::max(from, memory.schedule_since);
  }

  void find_run() {
    const Time since = start();
    const auto schedule = read_schedule();
    if (!schedule) return;
    const auto due = schedule->latest(since, turn_.now);
    const auto next = schedule->next(due.value_or(since));
    Time from = since;
    if (const Json& deadline = spec_["startingDeadlineSeconds"]; deadline.is_number())
      from = std::max(from, turn_.now - base::seconds(deadline.as_int()));
    if (next)
      decision_.plan.requeue_after(std::min(*next - turn_.now + base::milliseconds(100), kTimerMax));
    else if (!due)
      return warn("InvalidSchedule", base::format(R"(Error getting schedule time: nothing is ever due by "{}")",
                                                  spec_["schedule"].as_string()));
    if (!due || *due <= from) return;  // COMPAT(cronjob-every)
    if (schedule->count(from, turn_.now, kMissedMax + 1) > kMissedMax)
      warn("TooManyMissedTimes",
           "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew");
    run(*schedule, *due);
  }

  // The Job of the run at `due`. COMPAT(cronjob-names): runs of one minute differ by their second.
  std::string job_name(const api::CronSchedule& schedule, Time due) const {
    const bool often = schedule.every().ns > 0 && schedule.every() < base::minutes(1);
    return base::format("{}-{}", api::name_of(cronjob_), due.ns / (often ? 1'000'000'000 : 60'000'000'000));
  }

  void run(const api::CronSchedule& schedule, Time due) {
    const std::string name = job_name(schedule, due);
    if (const Json* existing = find_job(name)) {
      const Json& owner = api::controller_of(*existing);
      if (owner["uid"].as_string() != api::uid_of(cronjob_))
        warn("ForeignJob", base::format("Job {} exists but is not owned by this CronJob (current owner: {})", name,
                                        owner.is_null() ? "none"
                                                        : base::format("{}/{}", owner["kind"].as_string(),
                                                                       owner["name"].as_string())));
      status_.last_schedule = due;
      return;
    }
    const std::string policy = spec_["concurrencyPolicy"].str();
    if (policy == "Forbid" && !status_.kept.empty())
      return warn("ForbidConcurrent", "Skipping job creation because another job is already running",
                  base::format_rfc3339(due));
    if (decision_.memory.namespace_ends) return;
    if (name.size() > kJobNameMax)
      return warn("FailedCreate",
                  base::format("Failed to create job from template: the name {} is longer than {} characters", name,
                               kJobNameMax));
    if ((policy == "Forbid" || policy == "Replace") && !decision_.memory.unseen.empty()) return ask_for_unseen();
    if (policy == "Replace") replace_active();
    make_ = job(name, schedule.zone().format_rfc3339(due));
    decision_.memory.handled = due;
    decision_.memory.unseen = name;
  }

  // A view may be old for long, and an answer may be lost: what the last Job does is not known before it is seen.
  void ask_for_unseen() {
    const Memory& memory = decision_.memory;
    if (memory.there_at.is_set() && pause_left(memory.there_at + kUnseenPause, turn_.now, kUnseenPause) > Duration{})
      return decision_.plan.requeue_after(kUnseenPause);
    decision_.plan.fetch(resources::kJobs, "Job", api::namespace_of(cronjob_), memory.unseen);
    decision_.plan.requeue_after({});
  }

  Json job(const std::string& name, const std::string& due) const {
    const Json& given = spec_["jobTemplate"];
    Json metadata = Json::object({{"name", name}, {"namespace", api::namespace_of(cronjob_)}});
    if (const Json& labels = given["metadata"]["labels"]; !labels.empty()) metadata.set("labels", labels);
    Json annotations = given["metadata"]["annotations"];
    annotations.set(kScheduledAt, due);
    metadata.set("annotations", std::move(annotations));
    Json owner = Json::object({{"apiVersion", "batch.volcano.sh/v1alpha1"}, {"kind", "CronJob"}});
    owner.set("metadata", cronjob_["metadata"]);
    metadata.set("ownerReferences", Json::array({api::controller_reference(owner)}));
    return Json::object({{"apiVersion", "batch.volcano.sh/v1alpha1"},
                         {"kind", "Job"},
                         {"metadata", std::move(metadata)},
                         {"spec", given["spec"]}});
  }

  Action& remove(const Json& job) {
    Action& action = decision_.plan.remove(resources::kJobs, job);
    action.success_reason = "SuccessfulDelete";
    action.success_text = base::format("Deleted job \"{}\"", api::name_of(job));
    action.failure_reason = "FailedDelete";
    action.failure_text = base::format("Error deleting job \"{}\": {{}}", api::name_of(job));
    return action;
  }

  void compose() {
    Plan& plan = decision_.plan;
    for (const auto& [reason, text] : warnings_) plan.event(cronjob_, "Warning", reason, text);
    if (!replaced_.empty()) {
      plan.event(cronjob_, "Warning", "ReplaceConcurrent", "Replacing active job for CronJob");
      for (const Json* job : replaced_) remove(*job);
    }
    write_status();
    plan.begin_stage();
    for (const Json* job : history_) remove(*job).stops_nothing = true;
    if (make_.is_null()) return;
    plan.begin_stage();
    Action& action = plan.create(resources::kJobs, make_);
    action.success_reason = "SuccessfulCreate";
    action.success_text = base::format("Created job {} for CronJob {}", api::name_of(make_), api::key_of(cronjob_));
    action.stops_nothing = true;
  }

  void write_status() {
    Plan& plan = decision_.plan;
    Json status = status_.json(cronjob_["status"]);
    if (status == cronjob_["status"] || (status.empty() && cronjob_["status"].is_null())) return;
    if (!stale_.empty()) plan.begin_stage("FailedGet", "Get job: {}");
    for (const auto& [name, uid] : stale_)
      plan.require_gone(resources::kJobs, "Job", api::namespace_of(cronjob_), name, uid);
    plan.begin_stage();
    Json next = cronjob_;
    next.set("status", std::move(status));
    plan.set_status(resources::kCronJobs, std::move(next));
    plan.begin_stage();
    for (const Said& one : after_status_) plan.event(cronjob_, one.type, one.reason, one.text);
  }

  void replace_active() {
    for (const Json* job : seen_.children) {
      if (!status_.has(api::uid_of(*job))) continue;
      if (!api::is_deleting(*job)) replaced_.push_back(job);
      status_.drop(api::uid_of(*job));
    }
  }

  struct Said {
    std::string type, reason, text;
  };

  const Observed& seen_;
  const Json& cronjob_;
  const Json& spec_;
  const Turn& turn_;
  const base::TimeZone& local_;
  Decision decision_;
  Status status_;
  OngoingStates said_;
  std::vector<std::pair<std::string, std::string>> warnings_;  // reason and text
  std::vector<Said> after_status_;                             // what the status will show
  std::vector<std::pair<std::string, std::string>> stale_;     // name and uid of Jobs that are gone
  std::vector<const Json*> history_;                           // finished Jobs to delete
  Json make_;                                                  // the Job to create; null: none
  std::vector<const Json*> replaced_;                          // active Jobs that make room for it
};

}  // namespace

Decision step(const Observed& seen, Memory memory, const Turn& turn, const base::TimeZone& local) {
  return CronJobStep(seen, std::move(memory), turn, local).take();
}

}  // namespace controllers::cronjob
