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

struct Message {
  std::string type, reason, text;
};

// COMPAT(cronjob-warnings): one is given once for as long as it holds.
struct Warnings {
  OngoingStates reported;
  std::vector<Message> given = {};  // in this look

  void give(std::string_view reason, std::string text) {
    given.push_back({"Warning", std::string(reason), std::move(text)});
  }
  void give_once(std::string_view reason, std::string text, std::string_view about = {}) {
    if (reported.is_new(base::format("{} {} {}", reason, about, text))) give(reason, std::move(text));
  }
};

// A Job that the status lists and that is not there any more.
struct StaleReference {
  std::string name, uid;
};

// The state of the Jobs, and what follows from it.
struct JobFindings {
  Status status;
  std::vector<Message> events = {};        // of what the status will show
  std::vector<StaleReference> stale = {};  // to be asked for before the status leaves them out
  std::vector<const Json*> outlived = {};  // finished Jobs beyond the limits of the history
};

// All that a look is made of.
struct StepInput {
  const Observed& seen;
  const FindJob& find_job;
  Time now;
  const base::TimeZone& local;
};

// The run that is due, as far as there is one.
struct Run {
  Json job = {};                           // to create; null: none
  Time due = {};                           // of the Job
  std::vector<const Json*> replaced = {};  // active Jobs that make room for it
  std::string asked_for = {};              // the Job that the server is asked for before another is made; empty: none
  std::optional<Duration> look_again = {};
};

Status read_status(const Json& status, Time handled) {
  Status out;
  for (const Json& one : status["active"].items()) out.add(one);
  out.last_schedule = std::max(time_in(status["lastScheduleTime"]), handled);
  out.last_successful = time_in(status["lastSuccessfulTime"]);
  return out;
}

void report_refusal(const Json& cronjob, Memory& memory, Warnings& warnings) {
  if (memory.refused.empty()) return;
  if (memory.namespace_ends)
    warnings.give("NamespaceTerminating",
                  base::format("Namespace {} is terminating, skipping job creation", api::namespace_of(cronjob)));
  else
    warnings.give("FailedCreate", "Failed to create job: " + memory.refused);
  memory.refused.clear();
}

// The finished Jobs but the newest ones, and but those that are on their way out.
std::vector<const Json*> beyond_limit(std::vector<const Json*> jobs, std::int64_t limit) {
  std::erase_if(jobs, [](const Json* job) { return api::is_deleting(*job); });
  std::ranges::sort(jobs, [](const Json* a, const Json* b) {
    const Time one = time_in((*a)["metadata"]["creationTimestamp"]);
    const Time other = time_in((*b)["metadata"]["creationTimestamp"]);
    return one != other ? one > other : api::name_of(*a) > api::name_of(*b);
  });
  const std::size_t kept = std::min(static_cast<std::size_t>(std::max<std::int64_t>(limit, 0)), jobs.size());
  return {jobs.begin() + static_cast<std::ptrdiff_t>(kept), jobs.end()};
}

void record_finished(const Observed& seen, JobFindings& found) {
  std::vector<const Json*> completed;
  std::vector<const Json*> failed;
  for (const Json* job : seen.children) {
    const job::Phase phase = phase_of(*job);
    if (!job::is_finished(phase)) continue;
    if (found.status.has(api::uid_of(*job))) {
      found.status.drop(api::uid_of(*job));
      found.events.push_back(
          {"Normal", "SawCompletedJob", base::format("Saw completed job: {} in active, remove", api::name_of(*job))});
    }
    if (phase == job::Phase::kCompleted) {
      found.status.last_successful =
          std::max(found.status.last_successful, time_in((*job)["status"]["state"]["lastTransitionTime"]));
      completed.push_back(job);
    } else if (phase == job::Phase::kFailed) {
      failed.push_back(job);
    }
  }
  const Json& spec = (*seen.cronjob)["spec"];
  found.outlived = beyond_limit(std::move(completed), spec["successfulJobsHistoryLimit"].as_int(3));
  for (const Json* job : beyond_limit(std::move(failed), spec["failedJobsHistoryLimit"].as_int(1)))
    found.outlived.push_back(job);
}

void record_unfinished(const Observed& seen, Time now, JobFindings& found, Warnings& warnings) {
  for (const Json* job : seen.children) {
    if (job::is_finished(phase_of(*job)) || found.status.has(api::uid_of(*job)) || api::is_deleting(*job)) continue;
    // COMPAT(cronjob-adopts): a Job of ours that the status does not have was made just before a crash, or just now.
    if (const auto due = base::parse_rfc3339(api::annotation_of(*job, kScheduledAt))) {
      found.status.add(reference_to("batch.volcano.sh/v1alpha1", "Job", *job));
      if (*due <= now) found.status.last_schedule = std::max(found.status.last_schedule, *due);
    } else {
      warnings.give_once("OrphanedJob",
                         base::format("Detected orphaned job forgotten or not managed by controller: {} (UID: {})",
                                      api::name_of(*job), api::uid_of(*job)));
    }
  }
}

void drop_stale(const Observed& seen, const FindJob& find_job, JobFindings& found) {
  std::set<std::string_view> children;
  for (const Json* job : seen.children) children.insert(api::uid_of(*job));
  for (const Json& one : found.status.active()) {
    const std::string uid = one["uid"].str();
    if (children.contains(uid)) continue;
    const std::string name = one["name"].str();
    const Json* other = find_job(name);
    found.events.push_back(
        {"Warning", "StaleReference",
         other ? base::format(R"(Active job reference "{}" points to a different UID (expected: {}, actual: {}))", name,
                              uid, api::uid_of(*other))
               : base::format(R"(Active job "{}" no longer exists (UID: {}))", name, uid)});
    found.stale.push_back({name, uid});
    found.status.drop(uid);
  }
}

JobFindings look_at_jobs(const StepInput& input, Time handled, Warnings& warnings) {
  JobFindings found{.status = read_status((*input.seen.cronjob)["status"], handled)};
  record_finished(input.seen, found);
  record_unfinished(input.seen, input.now, found, warnings);
  drop_stale(input.seen, input.find_job, found);
  return found;
}

std::optional<api::CronSchedule> read_schedule(const Json& spec, const base::TimeZone& local, Warnings& warnings) {
  const std::string text = spec["schedule"].str();
  base::TimeZone zone = local;
  if (text.find("TZ") != std::string::npos)
    warnings.give_once(
        "UnsupportedSchedule",
        base::format(R"(CRON_TZ or TZ in the schedule "{}" is not officially supported. If set, the TimeZone field )"
                     R"(will be ignored during execution.)",
                     text));
  if (const Json& name = spec["timeZone"]; name.is_string() && !api::names_time_zone(text)) {
    auto loaded = base::TimeZone::load(name.str());
    if (!loaded.ok()) {
      warnings.give_once("InvalidTimeZone",
                         base::format(R"(Invalid time zone "{}": {})", name.as_string(), loaded.error().message));
      return std::nullopt;
    }
    zone = *loaded;
  }
  auto parsed = api::CronSchedule::parse(text, zone);
  if (parsed.ok()) return *parsed;
  warnings.give_once("UnParseableCronJobSchedule", base::format("unparseable schedule for cronjob: {}", text));
  return std::nullopt;
}

// From when on times are due. A deadline leaves out those that are too late: it moves no time, as it would move those
// of "@every", of which then none would come.
Time start(const Json& cronjob, Time now, Status& status, Memory& memory) {
  const Json& spec = cronjob["spec"];
  const std::string schedule = base::format("{} {}", spec["timeZone"].dump(), spec["schedule"].dump());
  // Runs that a changed schedule would have started before it was written are not made up for.
  if (!memory.schedule.empty() && memory.schedule != schedule) memory.schedule_since = now;
  memory.schedule = schedule;
  if (memory.schedule_since > now + kClockErrorMax) memory.schedule_since = now;
  // COMPAT(cronjob-clock)
  if (status.last_schedule > now + kClockErrorMax) {
    status.last_schedule = now;
    memory.handled = {};
  }
  const Time from =
      status.last_schedule.is_set() ? status.last_schedule : time_in(cronjob["metadata"]["creationTimestamp"]);
  return std::max(from, memory.schedule_since);
}

// The Job of the run at `due`. COMPAT(cronjob-names): runs of one minute differ by their second.
std::string job_name(const Json& cronjob, const api::CronSchedule& schedule, Time due) {
  const bool often = schedule.every().ns > 0 && schedule.every() < base::minutes(1);
  return base::format("{}-{}", api::name_of(cronjob), due.ns / (often ? 1'000'000'000 : 60'000'000'000));
}

Json make_job(const Json& cronjob, const std::string& name, const std::string& due) {
  const Json& given = cronjob["spec"]["jobTemplate"];
  Json metadata = Json::object({{"name", name}, {"namespace", api::namespace_of(cronjob)}});
  if (const Json& labels = given["metadata"]["labels"]; !labels.empty()) metadata.set("labels", labels);
  Json annotations = given["metadata"]["annotations"];
  annotations.set(kScheduledAt, due);
  metadata.set("annotations", std::move(annotations));
  Json owner = Json::object({{"apiVersion", "batch.volcano.sh/v1alpha1"}, {"kind", "CronJob"}});
  owner.set("metadata", cronjob["metadata"]);
  metadata.set("ownerReferences", Json::array({api::controller_reference(owner)}));
  return Json::object({{"apiVersion", "batch.volcano.sh/v1alpha1"},
                       {"kind", "Job"},
                       {"metadata", std::move(metadata)},
                       {"spec", given["spec"]}});
}

// The active Jobs, which the status lists no more.
std::vector<const Json*> replace_active(const Observed& seen, Status& status) {
  std::vector<const Json*> replaced;
  for (const Json* job : seen.children) {
    if (!status.has(api::uid_of(*job))) continue;
    if (!api::is_deleting(*job)) replaced.push_back(job);
    status.drop(api::uid_of(*job));
  }
  return replaced;
}

void warn_of_foreign_job(const Json& cronjob, const Json& existing, Warnings& warnings) {
  const Json& owner = api::controller_of(existing);
  if (owner["uid"].as_string() == api::uid_of(cronjob)) return;
  warnings.give_once(
      "ForeignJob",
      base::format(
          "Job {} exists but is not owned by this CronJob (current owner: {})", api::name_of(existing),
          owner.is_null() ? "none" : base::format("{}/{}", owner["kind"].as_string(), owner["name"].as_string())));
}

// A view may be old for long, and an answer may be lost: what the last Job does is not known before it is seen.
Run ask_for_unseen(const Memory& memory, Time now) {
  if (memory.there_at.is_set() && pause_left(memory.there_at + kUnseenPause, now, kUnseenPause) > Duration{})
    return {.look_again = kUnseenPause};
  return {.asked_for = memory.unseen, .look_again = Duration{}};
}

// The Job of the run at `due`, or why there is none.
Run decide_run(const StepInput& input, const api::CronSchedule& schedule, Time due, const Memory& memory,
               Status& status, Warnings& warnings) {
  const Json& cronjob = *input.seen.cronjob;
  const std::string name = job_name(cronjob, schedule, due);
  if (const Json* existing = input.find_job(name)) {
    warn_of_foreign_job(cronjob, *existing, warnings);
    status.last_schedule = due;
    return {};
  }
  const std::string policy = cronjob["spec"]["concurrencyPolicy"].str();
  if (policy == "Forbid" && !status.kept.empty()) {
    warnings.give_once("ForbidConcurrent", "Skipping job creation because another job is already running",
                       base::format_rfc3339(due));
    return {};
  }
  if (memory.namespace_ends) return {};
  if (name.size() > kJobNameMax) {
    warnings.give_once("FailedCreate",
                       base::format("Failed to create job from template: the name {} is longer than {} characters",
                                    name, kJobNameMax));
    return {};
  }
  if ((policy == "Forbid" || policy == "Replace") && !memory.unseen.empty()) return ask_for_unseen(memory, input.now);
  Run run{.job = make_job(cronjob, name, schedule.zone().format_rfc3339(due)), .due = due};
  if (policy == "Replace") run.replaced = replace_active(input.seen, status);
  return run;
}

Run find_run(const StepInput& input, Memory& memory, Status& status, Warnings& warnings) {
  const Json& spec = (*input.seen.cronjob)["spec"];
  const Time since = start(*input.seen.cronjob, input.now, status, memory);
  const auto schedule = read_schedule(spec, input.local, warnings);
  if (!schedule) return {};
  const auto due = schedule->latest(since, input.now);
  const auto next = schedule->next(due.value_or(since));
  Time from = since;
  if (const Json& deadline = spec["startingDeadlineSeconds"]; deadline.is_number())
    from = std::max(from, input.now - base::seconds(deadline.as_int()));
  if (!next && !due)
    warnings.give_once("InvalidSchedule", base::format(R"(Error getting schedule time: nothing is ever due by "{}")",
                                                       spec["schedule"].as_string()));
  Run run;
  if (due && *due > from) {  // COMPAT(cronjob-every)
    if (schedule->count(from, input.now, kMissedMax + 1) > kMissedMax)
      warnings.give_once(
          "TooManyMissedTimes",
          "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew");
    run = decide_run(input, *schedule, *due, memory, status, warnings);
  }
  if (next) {
    const Duration until_next = std::min(*next - input.now + base::milliseconds(100), kTimerMax);
    run.look_again = std::min(run.look_again.value_or(until_next), until_next);
  }
  return run;
}

Action& remove(const Json& job, Plan& plan) {
  Action& action = plan.remove(resources::kJobs, job);
  action.success_reason = "SuccessfulDelete";
  action.success_text = base::format("Deleted job \"{}\"", api::name_of(job));
  action.failure_reason = "FailedDelete";
  action.failure_text = base::format("Error deleting job \"{}\": {{}}", api::name_of(job));
  return action;
}

void write_status(const Json& cronjob, const JobFindings& found, Plan& plan) {
  Json status = found.status.json(cronjob["status"]);
  if (status == cronjob["status"] || (status.empty() && cronjob["status"].is_null())) return;
  if (!found.stale.empty()) plan.begin_stage("FailedGet", "Get job: {}");
  for (const StaleReference& one : found.stale)
    plan.require_gone(resources::kJobs, "Job", api::namespace_of(cronjob), one.name, one.uid);
  plan.begin_stage();
  Json next = cronjob;
  next.set("status", std::move(status));
  plan.set_status(resources::kCronJobs, std::move(next));
  plan.begin_stage();
  for (const Message& one : found.events) plan.event(cronjob, one.type, one.reason, one.text);
}

Plan compose(const Json& cronjob, const JobFindings& found, const Run& run, const Warnings& warnings) {
  Plan plan;
  plan.set_subject(cronjob);
  if (run.look_again) plan.requeue_after(*run.look_again);
  if (!run.asked_for.empty()) plan.fetch(resources::kJobs, "Job", api::namespace_of(cronjob), run.asked_for);
  for (const Message& one : warnings.given) plan.event(cronjob, one.type, one.reason, one.text);
  if (!run.replaced.empty()) {
    plan.event(cronjob, "Warning", "ReplaceConcurrent", "Replacing active job for CronJob");
    for (const Json* job : run.replaced) remove(*job, plan);
  }
  write_status(cronjob, found, plan);
  plan.begin_stage();
  for (const Json* job : found.outlived) remove(*job, plan).stops_nothing = true;
  if (run.job.is_null()) return plan;
  plan.begin_stage();
  Action& action = plan.create(resources::kJobs, run.job);
  action.success_reason = "SuccessfulCreate";
  action.success_text = base::format("Created job {} for CronJob {}", api::name_of(run.job), api::key_of(cronjob));
  action.stops_nothing = true;
  return plan;
}

}  // namespace

Decision step(const Observed& seen, const FindJob& find_job, Memory memory, const Turn& turn,
              const base::TimeZone& local) {
  const Json& cronjob = *seen.cronjob;
  if (api::is_deleting(cronjob)) {
    Decision decision{.memory = std::move(memory)};
    decision.plan.set_subject(cronjob);
    return decision;
  }
  Warnings warnings{.reported = OngoingStates(std::move(memory.reported))};
  memory.looked_at = turn.now;
  if (find_job(memory.unseen)) memory.unseen.clear();
  report_refusal(cronjob, memory, warnings);
  const StepInput input{seen, find_job, turn.now, local};
  JobFindings found = look_at_jobs(input, memory.handled, warnings);
  Run run;
  if (!cronjob["spec"]["suspend"].as_bool()) run = find_run(input, memory, found.status, warnings);
  if (!run.job.is_null()) {
    memory.handled = run.due;
    memory.unseen = api::name_of(run.job);
  }
  memory.reported = warnings.reported.all();
  return {.plan = compose(cronjob, found, run, warnings), .memory = std::move(memory)};
}

}  // namespace controllers::cronjob
