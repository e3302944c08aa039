// CronJobs on virtual time: runs, policies, missed runs, clocks, history, and what is said of each (controllers.md 9).
#include <gtest/gtest.h>

#include "base/format.h"
#include "controllers/cronjob/controller.h"
#include "controllers/framework/world_for_tests.h"

namespace controllers::cronjob {
namespace {

using api::Json;
using base::Time;
namespace resources = api::resources;

Time at(std::string_view text) { return *base::parse_rfc3339(text); }

class CronJobTest : public ::testing::Test {
 protected:
  CronJobTest() {
    world.now = at("2026-03-01T10:00:30Z");
    restart();
    world.use_indexes_of(*controller);
  }
  void restart(base::TimeZone local = {}) { controller = make_cronjob_controller({.local = local}); }
  // CronJob ns/c, made now, with these members of its spec.
  void put(std::string_view more, std::string_view name = "c") {
    world.put_text(resources::kCronJobs, base::format(R"({{"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "CronJob",
                     "metadata": {{"name": "{}", "namespace": "ns", "uid": "U"}},
                     "spec": {{"jobTemplate": {{"metadata": {{"labels": {{"a": "b"}}, "annotations": {{"x": "y"}}}},
                               "spec": {{"queue": "q"}}}}, {}}}}})",
                                                      name, more));
  }
  Json& edit() { return *world.edit(resources::kCronJobs, "ns/c"); }
  const Json& status() { return (*world.find(resources::kCronJobs, "ns/c"))["status"]; }
  // Steps until nothing is written any more.
  void settle() {
    for (int round = 0; round < 20; ++round) {
      const Plan plan = controller->step(world, "ns/c", {.now = world.now});
      look_again = plan.look_again();
      controller->finished("ns/c", world.apply(plan));
      if (writes_nothing(plan)) return;
    }
    FAIL() << "never at rest";
  }
  void pass(base::Duration time) {
    world.now = world.now + time;
    settle();
  }
  void finish(const std::string& job, std::string_view phase) {
    world.edit(resources::kJobs, "ns/" + job)
        ->edit_path({"status"})
        .set("state", Json::object({{"phase", phase}, {"lastTransitionTime", base::format_rfc3339(world.now)}}));
    settle();
  }
  std::string jobs() const {
    std::string names;
    for (const Json* job : world.all(resources::kJobs))
      names += (names.empty() ? "" : " ") + std::string(api::name_of(*job));
    return names;
  }
  std::string active() {
    std::string names;
    for (const Json& one : status()["active"].items()) names += (names.empty() ? "" : " ") + one["name"].str();
    return names;
  }
  // And forgets them.
  std::string events() {
    std::string text;
    for (const std::string& one : world.events) text += (text.empty() ? "" : "\n") + one;
    world.events.clear();
    return text;
  }
  std::string job_at(std::string_view time) const { return base::format("c-{}", at(time).ns / 60'000'000'000); }

  TestWorld world;
  std::unique_ptr<Controller> controller;
  std::optional<base::Duration> look_again;
};

TEST_F(CronJobTest, a_run_from_its_time_to_its_end) {
  put(R"("schedule": "*/5 * * * *", "timeZone": "Asia/Kolkata")");
  settle();
  EXPECT_EQ(jobs(), "");
  EXPECT_EQ(look_again, base::seconds(270) + base::milliseconds(100));
  pass(base::seconds(271));
  const std::string name = job_at("2026-03-01T10:05:00Z");
  ASSERT_EQ(jobs(), name);
  EXPECT_EQ(events(), "SuccessfulCreate: Created job " + name + " for CronJob ns/c");
  const Json& job = *world.find(resources::kJobs, "ns/" + name);
  EXPECT_EQ(job["metadata"]["labels"].dump(), R"({"a":"b"})");
  EXPECT_EQ(job["metadata"]["annotations"].dump(),
            R"({"x":"y","volcano.sh/cronjob-scheduled-timestamp":"2026-03-01T15:35:00+05:30"})");
  EXPECT_EQ(api::controller_of(job).sorted().dump(),
            R"({"apiVersion":"batch.volcano.sh/v1alpha1","blockOwnerDeletion":true,"controller":true,"kind":"CronJob",)"
            R"("name":"c","uid":"U"})");
  EXPECT_EQ(job["spec"].dump(), R"({"queue":"q"})");
  EXPECT_EQ(status()["lastScheduleTime"].as_string(), "2026-03-01T10:05:00Z");
  EXPECT_EQ(active(), name);
  EXPECT_EQ(status()["active"][std::size_t{0}]["uid"].as_string(), api::uid_of(job));
  pass(base::seconds(20));
  finish(name, "Completed");
  EXPECT_EQ(events(), "SawCompletedJob: Saw completed job: " + name + " in active, remove");
  EXPECT_EQ(active(), "");
  EXPECT_EQ(status()["lastSuccessfulTime"].as_string(), "2026-03-01T10:05:21Z");
}

TEST_F(CronJobTest, what_an_active_job_means_for_the_next_run) {
  struct Row {
    const char* policy;
    const char* jobs_after;  // of the first job, F, and the second, S
    const char* events;
  };
  const Row rows[] = {{"Allow", "F S", "SuccessfulCreate: Created job S for CronJob ns/c"},
                      {"Forbid", "F", "ForbidConcurrent: Skipping job creation because another job is already running"},
                      {"Replace", "S",
                       "ReplaceConcurrent: Replacing active job for CronJob\nSuccessfulDelete: Deleted job \"F\"\n"
                       "SuccessfulCreate: Created job S for CronJob ns/c"}};
  for (const Row& row : rows) {
    world.objects.clear();
    world.now = at("2026-03-01T10:00:30Z");
    restart();
    put(base::format(R"("schedule": "@hourly", "concurrencyPolicy": "{}")", row.policy));
    pass(base::hours(1));
    events();
    pass(base::hours(1));
    const auto named = [this](std::string text) {
      for (const auto& [word, time] : {std::pair{"F", "2026-03-01T11:00:00Z"}, std::pair{"S", "2026-03-01T12:00:00Z"}})
        for (std::size_t found; (found = text.find(job_at(time))) != std::string::npos;)
          text.replace(found, job_at(time).size(), word);
      return text;
    };
    EXPECT_EQ(named(jobs()), row.jobs_after) << row.policy;
    EXPECT_EQ(named(events()), row.events) << row.policy;
    EXPECT_EQ(named(active()), row.jobs_after) << row.policy;
  }
}

// The run that Forbid left out starts as soon as there is room for it, and is complained about once.
TEST_F(CronJobTest, a_forbidden_run_is_made_up_for) {
  put(R"("schedule": "@hourly", "concurrencyPolicy": "Forbid")");
  pass(base::hours(1));
  pass(base::hours(1));
  pass(base::minutes(1));
  EXPECT_EQ(jobs(), job_at("2026-03-01T11:00:00Z"));
  events();
  pass(base::minutes(1));
  EXPECT_EQ(events(), "");
  finish(job_at("2026-03-01T11:00:00Z"), "Completed");
  EXPECT_EQ(active(), job_at("2026-03-01T12:00:00Z"));
}

TEST_F(CronJobTest, a_deadline_forgets_runs_that_are_too_late) {
  put(R"("schedule": "@hourly", "startingDeadlineSeconds": 120)");
  pass(base::minutes(63));
  EXPECT_EQ(jobs(), "");
  pass(base::minutes(58));
  EXPECT_EQ(jobs(), job_at("2026-03-01T12:00:00Z"));
}

// COMPAT(cronjob-every)
TEST_F(CronJobTest, every_counts_from_the_last_run) {
  put(R"("schedule": "@every 1h", "startingDeadlineSeconds": 60)");
  pass(base::minutes(51));
  EXPECT_EQ(look_again, base::minutes(9) + base::milliseconds(100));
  restart();
  pass(base::minutes(8));
  EXPECT_EQ(jobs(), "");
  EXPECT_EQ(look_again, base::minutes(1) + base::milliseconds(100));
  pass(base::minutes(1));
  EXPECT_EQ(jobs(), job_at("2026-03-01T11:00:30Z"));
  pass(base::minutes(61));
  EXPECT_EQ(jobs(), job_at("2026-03-01T11:00:30Z")) << "that is too late";
  pass(base::minutes(59) + base::seconds(30));
  EXPECT_NE(jobs().find(job_at("2026-03-01T13:00:30Z")), std::string::npos);
}

TEST_F(CronJobTest, suspended_it_starts_nothing_and_keeps_its_books) {
  put(R"("schedule": "@hourly")");
  pass(base::hours(1));
  edit().edit("spec").set("suspend", true);
  pass(base::hours(1));
  EXPECT_EQ(jobs(), job_at("2026-03-01T11:00:00Z"));
  EXPECT_EQ(look_again, std::nullopt);
  finish(job_at("2026-03-01T11:00:00Z"), "Failed");
  EXPECT_EQ(active(), "");
  edit().edit("spec").set("suspend", false);
  settle();
  EXPECT_NE(jobs().find(job_at("2026-03-01T12:00:00Z")), std::string::npos);
}

TEST_F(CronJobTest, a_hundred_thousand_missed_runs_are_one) {
  put(R"("schedule": "* * * * *")");
  settle();
  pass(base::minutes(100'000));
  EXPECT_EQ(jobs(), base::format("c-{}", world.now.ns / 60'000'000'000));
  EXPECT_EQ(events().find("TooManyMissedTimes: too many missed start times. Set or decrease "
                          ".spec.startingDeadlineSeconds or check clock skew\nSuccessfulCreate: "),
            0u);
}

TEST_F(CronJobTest, a_changed_schedule_makes_up_for_nothing) {
  put(R"("schedule": "0 12 * * *")");
  pass(base::hours(1));
  edit().edit("spec").set("schedule", "30 10 * * *");
  settle();
  EXPECT_EQ(jobs(), "");
  pass(base::hours(23) + base::minutes(30));
  EXPECT_EQ(jobs(), job_at("2026-03-02T10:30:00Z"));
}

// A clock that was set back a little repeats no run; one that was wrong by far does not stop the job for as long.
TEST_F(CronJobTest, a_clock_that_jumps_back) {
  put(R"("schedule": "*/10 * * * *")");
  pass(base::minutes(60));
  const std::string made = jobs();
  EXPECT_EQ(made, job_at("2026-03-01T11:00:00Z"));
  pass(base::minutes(-25));
  EXPECT_EQ(jobs(), made);
  EXPECT_EQ(status()["lastScheduleTime"].as_string(), "2026-03-01T11:00:00Z");
  pass(base::minutes(-1440));
  EXPECT_EQ(jobs(), made);
  pass(base::minutes(10));
  EXPECT_EQ(jobs(), job_at("2026-02-28T10:40:00Z") + " " + made);
  EXPECT_EQ(status()["lastScheduleTime"].as_string(), "2026-02-28T10:40:00Z");
}

TEST_F(CronJobTest, schedules_and_zones_that_make_no_sense) {
  struct Row {
    const char* spec;
    const char* event;
  };
  const Row rows[] = {
      {R"("schedule": "0 0 30 2 *")",
       R"(InvalidSchedule: Error getting schedule time: nothing is ever due by "0 0 30 2 *")"},
      {R"("schedule": "every day")", "UnParseableCronJobSchedule: unparseable schedule for cronjob: every day"},
      {R"("schedule": "@daily", "timeZone": "Mars/Base")",
       R"(InvalidTimeZone: Invalid time zone "Mars/Base": unknown time zone Mars/Base)"},
      {R"("schedule": "@daily", "timeZone": "../../etc/passwd")",
       R"(InvalidTimeZone: Invalid time zone "../../etc/passwd": unknown time zone ../../etc/passwd)"},
      {R"("schedule": "TZ=Asia/Tokyo @daily")",
       R"(UnsupportedSchedule: CRON_TZ or TZ in the schedule "TZ=Asia/Tokyo @daily" is not officially supported. If set, )"
       "the TimeZone field will be ignored during execution."},
  };
  for (const Row& row : rows) {
    restart();
    put(row.spec);
    for (int look = 0; look < 3; ++look) settle();
    EXPECT_EQ(events(), row.event);
    EXPECT_EQ(jobs(), "");
  }
}

TEST_F(CronJobTest, zones_of_fields_texts_and_machines) {
  struct Row {
    const char* spec;
    const char* local;
    const char* due;
  };
  const Row rows[] = {
      {R"("schedule": "0 9 * * *", "timeZone": "Asia/Tokyo")", "UTC", "2026-03-02T09:00:00+09:00"},
      {R"("schedule": "TZ=Asia/Tokyo 0 9 * * *", "timeZone": "Europe/Berlin")", "UTC", "2026-03-02T09:00:00+09:00"},
      {R"("schedule": "0 9 * * *")", "America/New_York", "2026-03-01T09:00:00-05:00"},
      {R"("schedule": "0 9 * * *")", "UTC", "2026-03-02T09:00:00Z"},
  };
  for (const Row& row : rows) {
    world.objects.clear();
    world.now = at("2026-03-01T10:00:30Z");
    restart(*base::TimeZone::load(row.local));
    put(row.spec);
    settle();
    world.now = at(row.due) + base::seconds(1);
    settle();
    ASSERT_EQ(world.all(resources::kJobs).size(), 1u) << row.spec;
    EXPECT_EQ(api::annotation_of(*world.all(resources::kJobs)[0], "volcano.sh/cronjob-scheduled-timestamp"), row.due);
  }
}

TEST_F(CronJobTest, history_keeps_the_newest) {
  put(R"("schedule": "@hourly", "successfulJobsHistoryLimit": 2, "failedJobsHistoryLimit": 0)");
  for (int hour = 0; hour < 4; ++hour) {
    pass(base::hours(1));
    finish(active(), "Completed");
  }
  EXPECT_EQ(jobs(), job_at("2026-03-01T13:00:00Z") + " " + job_at("2026-03-01T14:00:00Z"));
  EXPECT_NE(events().find("SuccessfulDelete: Deleted job \"" + job_at("2026-03-01T11:00:00Z") + "\""),
            std::string::npos);
  pass(base::hours(1));
  finish(active(), "Failed");
  EXPECT_EQ(jobs(), job_at("2026-03-01T13:00:00Z") + " " + job_at("2026-03-01T14:00:00Z"));
  pass(base::hours(1));
  finish(active(), "Terminated");
  EXPECT_EQ(world.all(resources::kJobs).size(), 3u);
}

TEST_F(CronJobTest, deletions_that_fail_are_said_and_stop_no_run) {
  put(R"("schedule": "@hourly", "successfulJobsHistoryLimit": 0)");
  pass(base::hours(1));
  const std::string first = active();
  world.refuse = [](const Action& action) -> std::optional<base::Error> {
    if (action.verb != Action::Verb::kDelete) return std::nullopt;
    return base::make_error(base::Code::kForbidden, "no");
  };
  world.edit(resources::kJobs, "ns/" + first)->edit_path({"status", "state"}).set("phase", "Completed");
  world.now = world.now + base::hours(1);
  for (int look = 0; look < 3; ++look) world.turn(*controller, "ns/c");
  EXPECT_EQ(active(), job_at("2026-03-01T12:00:00Z"));
  EXPECT_NE(events().find("FailedDelete: Error deleting job \"" + first + "\": no"), std::string::npos);
}

TEST_F(CronJobTest, jobs_that_cannot_be_made) {
  put(R"("schedule": "@hourly")");
  base::Error refusal = base::make_error(base::Code::kForbidden, "the queue is closed");
  world.refuse = [&](const Action& action) -> std::optional<base::Error> {
    return action.verb == Action::Verb::kCreate ? std::optional(refusal) : std::nullopt;
  };
  world.now = world.now + base::hours(1);
  world.turn(*controller, "ns/c");
  world.turn(*controller, "ns/c");
  EXPECT_EQ(events(), "FailedCreate: Failed to create job: the queue is closed");
  EXPECT_TRUE(status()["lastScheduleTime"].is_null());
  refusal.causes = {{"NamespaceTerminating", "namespace ns is being terminated", "metadata.namespace"}};
  world.turn(*controller, "ns/c");
  events();
  settle();
  EXPECT_EQ(events(), "NamespaceTerminating: Namespace ns is terminating, skipping job creation");
  settle();
  EXPECT_EQ(events(), "");
}

TEST_F(CronJobTest, a_job_of_somebody_else_has_the_name) {
  put(R"("schedule": "@hourly")");
  world.put_text(resources::kJobs, base::format(R"({{"kind": "Job", "metadata": {{"name": "{}", "namespace": "ns",
      "ownerReferences": [{{"kind": "JobFlow", "name": "f", "uid": "V", "controller": true}}]}}}})",
                                                job_at("2026-03-01T11:00:00Z")));
  pass(base::hours(1));
  EXPECT_EQ(events(), "ForeignJob: Job " + job_at("2026-03-01T11:00:00Z") +
                          " exists but is not owned by this CronJob (current owner: JobFlow/f)");
  EXPECT_EQ(active(), "");
  EXPECT_EQ(status()["lastScheduleTime"].as_string(), "2026-03-01T11:00:00Z");
}

TEST_F(CronJobTest, references_to_jobs_that_are_gone_or_others) {
  put(R"("schedule": "@yearly")");
  edit().set("status",
             *api::parse_json(R"({"active": [{"name": "gone", "uid": "A"}, {"name": "other", "uid": "B"}]})"));
  world.put_text(resources::kJobs, R"({"kind": "Job", "metadata": {"name": "other", "namespace": "ns", "uid": "C"}})");
  settle();
  EXPECT_EQ(events(),
            "StaleReference: Active job \"gone\" no longer exists (UID: A)\n"
            "StaleReference: Active job reference \"other\" points to a different UID (expected: B, actual: C)");
  EXPECT_EQ(status().dump(), "{}");
}

constexpr std::string_view kOwned =
    R"("ownerReferences": [{"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "CronJob",
    "name": "c", "uid": "U", "controller": true}])";

// COMPAT(cronjob-adopts)
TEST_F(CronJobTest, jobs_that_the_status_does_not_have) {
  put(R"("schedule": "@hourly", "concurrencyPolicy": "Forbid")");
  world.put_text(
      resources::kJobs,
      base::format(R"({{"kind": "Job", "metadata": {{"name": "by-hand", "namespace": "ns", "uid": "H", {}}}}})",
                   kOwned));
  settle();
  EXPECT_EQ(events(), "OrphanedJob: Detected orphaned job forgotten or not managed by controller: by-hand (UID: H)");
  EXPECT_EQ(active(), "");
  // The controller made it and ended before it wrote the status.
  world.put_text(resources::kJobs, base::format(R"({{"kind": "Job", "metadata": {{"name": "c-1", "namespace": "ns",
      "annotations": {{"volcano.sh/cronjob-scheduled-timestamp": "2026-03-01T10:00:00Z"}}, {}}}}})",
                                                kOwned));
  restart();
  pass(base::hours(1));
  EXPECT_EQ(active(), "c-1");
  EXPECT_EQ(jobs(), "by-hand c-1");
}

// A view that has not heard of Jobs for a while.
class WithoutJobs final : public View {
 public:
  explicit WithoutJobs(const View& view) : view_(view) {}
  const Json* find(const api::ResourceId& resource, std::string_view key) const override {
    return resource == resources::kJobs ? nullptr : view_.find(resource, key);
  }
  std::vector<const Json*> by_index(const api::ResourceId&, std::string_view, std::string_view) const override {
    return {};
  }
  std::vector<const Json*> all(const api::ResourceId&) const override { return {}; }

 private:
  const View& view_;
};

// A Job that was made, or perhaps made, counts as one that works until it is seen or the server says that it is gone.
TEST_F(CronJobTest, an_old_view_lets_no_two_jobs_work) {
  const WithoutJobs old_view(world);
  const auto look = [&](bool answer_is_lost) {
    const Plan plan = controller->step(old_view, "ns/c", {.now = world.now});
    Ending ending = world.apply(plan);
    if (answer_is_lost)
      ending = {.succeeded = false,
                .failures = {{"Job", "", base::make_error(base::Code::kTimeout, "no answer in time")}}};
    controller->finished("ns/c", std::move(ending));
    return plan.text();
  };
  for (const bool answer_is_lost : {false, true})
    for (const char* policy : {"Forbid", "Replace"}) {
      world.objects.clear();
      world.now = at("2026-03-01T10:00:30Z");
      restart();
      put(base::format(R"("schedule": "@hourly", "concurrencyPolicy": "{}")", policy));
      world.now = world.now + base::hours(1);
      look(answer_is_lost);
      const std::string first = jobs();
      world.now = world.now + base::hours(1);
      EXPECT_NE(look(false).find("fetch Job ns/" + first + "\n"), std::string::npos) << policy;
      EXPECT_EQ(look(false), "") << policy;  // not so soon again
      world.now = world.now + base::seconds(2);
      EXPECT_EQ(controller->step(old_view, "ns/c", {.now = world.now}).text(), "fetch Job ns/" + first + "\n")
          << policy;
      controller->finished("ns/c", {.succeeded = false, .fetched = {Json()}});  // the server did not answer
      world.now = world.now + base::seconds(2);
      EXPECT_EQ(look(false), "fetch Job ns/" + first + "\n") << policy;
      EXPECT_EQ(jobs(), first) << policy;
      world.erase(resources::kJobs, "ns/" + first);
      world.now = world.now + base::seconds(2);
      look(false);
      look(false);
      EXPECT_EQ(jobs(), job_at("2026-03-01T12:00:00Z")) << policy;
    }
}

// COMPAT(cronjob-names)
TEST_F(CronJobTest, runs_of_one_minute_have_names_of_their_own) {
  put(R"("schedule": "@every 20s")");
  for (int run = 0; run < 3; ++run) pass(base::seconds(20));
  EXPECT_EQ(jobs(),
            base::format("c-{} c-{} c-{}", at("2026-03-01T10:00:50Z").ns / 1'000'000'000,
                         at("2026-03-01T10:01:10Z").ns / 1'000'000'000, at("2026-03-01T10:01:30Z").ns / 1'000'000'000));
}

// A year of hours in a zone with daylight saving: one Job an hour, whatever the clocks on the wall show.
TEST_F(CronJobTest, a_year_of_hours) {
  put(R"("schedule": "@hourly", "timeZone": "America/New_York", "successfulJobsHistoryLimit": 1)");
  settle();
  int made = 0;
  const Time end = world.now + base::hours(24 * 365);
  while (world.now < end) {
    ASSERT_TRUE(look_again);
    pass(*look_again);
    if (active().empty()) continue;
    ++made;
    finish(active(), "Completed");
  }
  EXPECT_EQ(made, 8760);
}

TEST_F(CronJobTest, a_job_in_deletion_or_with_a_long_name) {
  put(R"("schedule": "@hourly")");
  edit().edit("metadata").set("deletionTimestamp", "2026-03-01T10:00:00Z");
  pass(base::hours(1));
  EXPECT_EQ(jobs(), "");
  const std::string name(60, 'n');
  put(R"("schedule": "@hourly")", name);
  world.now = world.now + base::hours(1);
  for (int look = 0; look < 2; ++look) world.turn(*controller, "ns/" + name);
  EXPECT_EQ(
      events(),
      base::format("FailedCreate: Failed to create job from template: the name {}-{} is longer than 63 characters",
                   name, at("2026-03-01T12:00:00Z").ns / 60'000'000'000));
}

}  // namespace
}  // namespace controllers::cronjob
