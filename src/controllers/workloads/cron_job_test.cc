// Which runs of a CronJob are started, and when.
#include "controllers/workloads/cron_job.h"

#include <gtest/gtest.h>

#include "base/format.h"
#include "controllers/framework/trial_for_tests.h"
#include "controllers/workloads/pods.h"

namespace controllers::workloads {
namespace {

using api::Json;

const std::string kKey = "ns/tick";

struct Clock {
  explicit Clock(std::string_view spec = "{}") : controller(make_batch_cron_job_controller({})) {
    world.use_indexes_of(*controller);
    world.now = *base::parse_rfc3339("2026-03-01T12:00:30Z");
    Json made = *api::parse_json(R"({"apiVersion": "batch/v1", "kind": "CronJob",
        "metadata": {"name": "tick", "namespace": "ns", "uid": "c", "creationTimestamp": "2026-03-01T12:00:30Z"},
        "spec": {"schedule": "*/5 * * * *", "concurrencyPolicy": "Allow", "suspend": false,
                 "successfulJobsHistoryLimit": 2, "failedJobsHistoryLimit": 1,
                 "jobTemplate": {"metadata": {"labels": {"a": "b"}}, "spec": {"template": {}}}}})");
    merge_patch(made, Json::object({{"spec", *api::parse_json(spec)}}));
    world.put(kBatchCronJobs, std::move(made));
  }
  void pass(base::Duration time) {
    world.now = world.now + time;
    for (int i = 0; i < 4; ++i) world.turn(*controller, kKey);
  }
  void end(std::string_view type) {
    for (auto& [key, job] : world.objects[kBatchJobs])
      if (job["status"].is_null())
        job.set("status",
                Json::object({{"startTime", base::format_rfc3339(world.now)},
                              {"completionTime", base::format_rfc3339(world.now)},
                              {"conditions", Json::array({Json::object({{"type", type}, {"status", "True"}})})}}));
  }
  std::string jobs() const {
    std::string names;
    for (const Json* job : world.all(kBatchJobs)) names += std::string(api::name_of(*job)) + " ";
    return names;
  }
  const Json& status() const { return (*world.find(kBatchCronJobs, kKey))["status"]; }

  TestWorld world;
  std::unique_ptr<Controller> controller;
};

TEST(BatchCronJob, a_run_is_started_when_it_is_due_and_once) {
  Clock clock;
  clock.pass({});
  EXPECT_EQ(clock.jobs(), "");
  clock.pass(base::minutes(5));
  EXPECT_EQ(clock.jobs(), "tick-29539445 ");
  clock.pass(base::minutes(1));
  EXPECT_EQ(clock.jobs(), "tick-29539445 ");
  EXPECT_EQ(clock.status()["lastScheduleTime"].as_string(), "2026-03-01T12:05:00Z");
  EXPECT_EQ(clock.status()["active"].size(), 1U);
  const Json& job = *clock.world.all(kBatchJobs).front();
  EXPECT_EQ(api::annotation_of(job, "batch.kubernetes.io/cronjob-scheduled-timestamp"), "2026-03-01T12:05:00Z");
  EXPECT_EQ(api::label_of(job, "a"), "b");
  clock.end("Complete");
  clock.pass({});
  EXPECT_TRUE(clock.status()["active"].is_null());
  EXPECT_FALSE(clock.status()["lastSuccessfulTime"].is_null());
}

TEST(BatchCronJob, what_happens_while_one_runs) {
  struct Row {
    const char* spec;
    std::size_t jobs;
  };
  const Row rows[] = {{R"({"concurrencyPolicy": "Allow"})", 2},
                      {R"({"concurrencyPolicy": "Forbid"})", 1},
                      {R"({"concurrencyPolicy": "Replace"})", 1},
                      {R"({"suspend": true})", 0}};
  for (const Row& row : rows) {
    Clock clock(row.spec);
    clock.pass(base::minutes(5));
    const std::string first = clock.jobs();
    clock.pass(base::minutes(5));
    EXPECT_EQ(clock.world.all(kBatchJobs).size(), row.jobs) << row.spec;
    EXPECT_EQ(first == clock.jobs(),
              std::string_view(row.spec).find("Forbid") != std::string_view::npos || row.jobs == 0)
        << row.spec;
  }
}

TEST(BatchCronJob, runs_missed_for_longer_than_the_deadline_are_left_out) {
  Clock clock(R"({"startingDeadlineSeconds": 60})");
  clock.pass(base::minutes(8));
  EXPECT_EQ(clock.jobs(), "") << "due three and a half minutes ago";
  clock.pass(base::minutes(2));
  EXPECT_EQ(clock.jobs(), "tick-29539450 ");
}

TEST(BatchCronJob, a_clock_that_is_set_back_by_far_stops_it_no_longer_than_to_the_next_run) {
  Clock clock;
  clock.pass(base::minutes(5));
  clock.pass(base::hours(-3));  // that run is still active
  EXPECT_EQ(clock.jobs(), "tick-29539445 ");
  clock.pass(base::minutes(5));
  EXPECT_EQ(clock.jobs(), "tick-29539270 tick-29539445 ");
  EXPECT_EQ(clock.status()["lastScheduleTime"].as_string(), "2026-03-01T09:10:00Z");
}

TEST(BatchCronJob, keeps_as_many_finished_jobs_as_it_is_told) {
  Clock clock;
  for (int run = 0; run < 6; ++run) {
    clock.pass(base::minutes(5));
    clock.end(run % 2 == 0 ? "Complete" : "Failed");
  }
  clock.pass(base::seconds(1));
  EXPECT_EQ(clock.world.all(kBatchJobs).size(), 3U) << clock.jobs();
}

TEST(BatchCronJob, jobs_of_other_namespaces_are_not_its_own) {
  Clock clock;
  for (int run = 0; run < 3; ++run)
    clock.world.put_text(kBatchJobs, base::format(R"({{"apiVersion": "batch/v1",
      "kind": "Job", "metadata": {{"name": "run-{0}", "namespace": "elsewhere", "ownerReferences": [
      {{"apiVersion": "batch/v1", "kind": "CronJob", "name": "tick", "uid": "c", "controller": true}}]}}}})",
                                                  run));
  clock.end("Complete");
  clock.pass({});
  EXPECT_EQ(clock.jobs(), "run-0 run-1 run-2 ") << "more than the limit of its history";
}

TEST(BatchCronJob, a_zone_that_is_none_is_said) {
  Clock clock(R"({"timeZone": "Nowhere/Land"})");
  clock.pass(base::minutes(5));
  EXPECT_EQ(clock.jobs(), "");
  ASSERT_FALSE(clock.world.events.empty());
  EXPECT_TRUE(clock.world.events.front().starts_with("UnknownTimeZone")) << clock.world.events.front();
}

TEST(BatchCronJob, comes_to_rest_whatever_fails) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    Clock model;
    Trial trial(seed, [] { return make_batch_cron_job_controller({}); });
    trial.world.now = model.world.now;
    trial.world.put(kBatchCronJobs, *model.world.find(kBatchCronJobs, kKey));
    for (int round = 0; round < 60; ++round) {
      trial.look(kKey);
      trial.world.now = trial.world.now + base::seconds(47);
    }
    EXPECT_TRUE(trial.comes_to_rest(kKey)) << seed;
    const Json& status = (*trial.world.find(kBatchCronJobs, kKey))["status"];
    EXPECT_EQ(status["active"].size(), trial.world.all(kBatchJobs).size()) << seed;
  }
}

}  // namespace
}  // namespace controllers::workloads
