// RecurringRuns on a clock that tests move.
#include "controllers/pipelines/recurring_run.h"

#include <gtest/gtest.h>

#include "api/argo/v1alpha1/workflow.h"
#include "api/pipelines/v2beta1/pipeline.h"
#include "api/pipelines/v2beta1/recurring_run.h"
#include "base/format.h"
#include "controllers/framework/trial_for_tests.h"

namespace controllers::pipelines {
namespace {

using api::Json;
namespace resources = api::resources;
using Lines = std::vector<std::string>;

constexpr std::string_view kEveryHour = R"("periodicSchedule": {"intervalSecond": 3600})";

class Clock : public controllers::Trial {
 public:
  explicit Clock(const std::string& more = "", std::string_view trigger = kEveryHour, std::uint64_t seed = 1)
      : controllers::Trial(seed, [] { return make_recurring_run_controller(); }) {
    faults = false;
    world.now = *base::parse_rfc3339("2026-01-01T00:00:00Z");
    Json& made =
        world.put_text(resources::kRecurringRuns,
                       base::format(R"({{"apiVersion": "pipelines.kubeflow.org/v2beta1", "kind": "RecurringRun",
          "metadata": {{"name": "h", "namespace": "ns", "creationTimestamp": "2026-01-01T00:00:00Z"}},
          "spec": {{"displayName": "hourly", "pipelineVersionName": "v", "trigger": {{{}}}{}}}}})",
                                    trigger, more));
    EXPECT_TRUE(made.is_object());
  }

  void at(std::string_view time) {
    world.now = *base::parse_rfc3339(time);
    EXPECT_TRUE(comes_to_rest("ns/h"));
  }
  // The times of the runs that there are.
  Lines runs() {
    Lines times;
    for (const auto& [key, run] : world.objects[resources::kPipelineRuns])
      times.push_back(run["spec"]["scheduledAt"].str().substr(11, 5));
    return times;
  }
  void end_runs() {
    for (auto& [key, run] : world.objects[resources::kPipelineRuns])
      run.set("status", Json::object({{"state", "SUCCEEDED"}}));
  }
  const Json& object() { return *world.find(resources::kRecurringRuns, "ns/h"); }
};

TEST(RecurringRun, ARunIsMadeWhenItIsDue) {
  Clock clock;
  clock.at("2026-01-01T00:59:59Z");
  EXPECT_EQ(clock.runs(), Lines{});
  EXPECT_EQ(clock.object()["status"]["nextRunTime"].as_string(), "2026-01-01T01:00:00Z");
  EXPECT_EQ(clock.object()["status"]["state"].as_string(), "ENABLED");
  clock.at("2026-01-01T01:00:00Z");
  EXPECT_EQ(clock.runs(), Lines{"01:00"});
  const Json& run = clock.world.objects[resources::kPipelineRuns].begin()->second;
  EXPECT_EQ(run["metadata"]["name"].as_string(), "h-1767229200");
  EXPECT_EQ(run["spec"]["displayName"].as_string(), "hourly 2026-01-01T01:00:00Z");
  EXPECT_EQ(run["spec"]["recurringRunName"].as_string(), "h");
  EXPECT_EQ(run["spec"]["pipelineVersionName"].as_string(), "v");
  EXPECT_EQ(clock.object()["status"]["runs"].as_int(), 1);
}

TEST(RecurringRun, ARunThatIsNotInTheStatusIsCounted) {
  Clock clock;
  clock.at("2026-01-01T01:00:00Z");
  Json& object = clock.world.objects[resources::kRecurringRuns].begin()->second;
  object.set("status", Json::object({{"state", "ENABLED"}}));  // the write of it was refused
  clock.at("2026-01-01T01:00:01Z");
  EXPECT_EQ(clock.object()["status"]["lastRunTime"].as_string(), "2026-01-01T01:00:00Z");
  EXPECT_EQ(clock.object()["status"]["runs"].as_int(), 1);
  EXPECT_EQ(clock.runs(), Lines{"01:00"});
}

TEST(RecurringRun, RunsOfAnEarlierOneOfTheNameAreNotCounted) {
  Clock clock;
  Json& object = clock.world.objects[resources::kRecurringRuns].begin()->second;
  clock.at("2026-01-01T01:00:00Z");
  object.edit("metadata").set("creationTimestamp", "2026-01-01T01:10:00Z");
  object.set("status", Json::object());
  clock.at("2026-01-01T01:20:00Z");
  EXPECT_EQ(clock.object()["status"]["runs"].as_int(), 0);
  EXPECT_TRUE(clock.object()["status"]["lastRunTime"].is_null());
}

TEST(RecurringRun, MissedTimesAreCaughtUpOneAfterTheOther) {
  Clock clock;
  clock.at("2026-01-01T03:30:00Z");
  EXPECT_EQ(clock.runs(), Lines{"01:00"});  // one at a time
  clock.end_runs();
  clock.at("2026-01-01T03:30:10Z");
  EXPECT_EQ(clock.runs(), (Lines{"01:00", "02:00"}));
  clock.end_runs();
  clock.at("2026-01-01T03:30:20Z");
  clock.end_runs();
  clock.at("2026-01-01T03:30:30Z");
  EXPECT_EQ(clock.runs(), (Lines{"01:00", "02:00", "03:00"}));
}

TEST(RecurringRun, WithoutCatchUpTheNewestTimeCounts) {
  Clock clock(R"(, "noCatchup": true)");
  clock.at("2026-01-01T03:30:00Z");
  EXPECT_EQ(clock.runs(), Lines{"03:00"});
  clock.at("2026-01-01T06:30:00Z");  // the first one still runs
  EXPECT_EQ(clock.runs(), Lines{"03:00"});
  clock.end_runs();
  clock.at("2026-01-01T06:30:10Z");
  EXPECT_EQ(clock.runs(), (Lines{"03:00", "06:00"}));
}

TEST(RecurringRun, SeveralRunsAtATime) {
  Clock clock(R"(, "maxConcurrency": 2)");
  clock.at("2026-01-01T05:30:00Z");
  EXPECT_EQ(clock.runs(), (Lines{"01:00", "02:00"}));
}

TEST(RecurringRun, ADisabledOneMakesNone) {
  Clock clock(R"(, "mode": "DISABLE")");
  clock.at("2026-01-01T05:30:00Z");
  EXPECT_EQ(clock.runs(), Lines{});
  EXPECT_EQ(clock.object()["status"]["state"].as_string(), "DISABLED");
}

TEST(RecurringRun, AScheduleThatCannotBeReadIsSaid) {
  Clock clock("", R"("cronSchedule": {"cron": "often"})");
  clock.at("2026-01-01T05:30:00Z");
  EXPECT_EQ(clock.object()["status"]["state"].as_string(), "FAILED");
  EXPECT_TRUE(clock.object()["status"]["error"].as_string().starts_with("spec.trigger.cronSchedule.cron: "));
}

TEST(RecurringRun, TheNewestVersionIsTakenWhereNoneIsNamed) {
  Clock clock;
  clock.world.edit(resources::kRecurringRuns, "ns/h")->edit("spec").erase("pipelineVersionName");
  clock.world.edit(resources::kRecurringRuns, "ns/h")->edit("spec").set("pipelineName", "p");
  clock.at("2026-01-01T01:00:00Z");
  EXPECT_EQ(clock.object()["status"]["error"].as_string(), "spec.pipelineName: \"p\" has no PipelineVersion");
  for (const auto& [name, day] : {std::pair("a", "02"), {"b", "03"}, {"c", "01"}})
    clock.world.put_text(resources::kPipelineVersions,
                         base::format(R"({{"kind": "PipelineVersion", "metadata": {{"name": "{}", "namespace": "ns",
                           "creationTimestamp": "2025-01-{}T00:00:00Z"}}, "spec": {{"pipelineName": "p"}}}})",
                                      name, day));
  clock.at("2026-01-01T01:00:10Z");
  ASSERT_EQ(clock.runs(), Lines{"01:00"});
  EXPECT_EQ(clock.world.objects[resources::kPipelineRuns].begin()->second["spec"]["pipelineVersionName"].as_string(),
            "b");
}

TEST(RecurringRun, MacrosInParameters) {
  Clock clock(
      R"(, "runtimeConfig": {"parameters": {"day": "[[ScheduledTime.2006-01-02]]", "at": "at [[ScheduledTime]]!",
    "n": "[[Index]]", "other": "[[x]] [[", "number": 3, "deep": {"now": "[[CurrentTime.15:04]]"}}})");
  clock.at("2026-01-01T01:30:00Z");
  const Json& parameters =
      clock.world.objects[resources::kPipelineRuns].begin()->second["spec"]["runtimeConfig"]["parameters"];
  EXPECT_EQ(parameters.dump(), R"({"day":"2026-01-01","at":"at 20260101010000!","n":"1","other":"[[x]] [[",)"
                               R"("number":3,"deep":{"now":"01:30"}})");
}

// Faults and ends of the process run no time twice, and leave none out.
TEST(RecurringRun, ADocumentOfVersionOneIsRunAsAWorkflow) {
  Clock clock(R"(, "experimentName": "shelf", "runtimeConfig": {"parameters": {"turn": "[[Index]]"}},
      "pipelineSpec": {"kind": "Workflow", "spec": {"arguments": {"parameters": [{"name": "turn"}]}}})");
  clock.at("2026-01-01T01:00:00Z");
  EXPECT_EQ(clock.runs(), Lines{});
  const auto& workflows = clock.world.objects[resources::kWorkflows];
  ASSERT_EQ(workflows.size(), 1U);
  const Json& run = workflows.begin()->second;
  EXPECT_EQ(run["metadata"]["name"].as_string(), "h-1767229200");
  EXPECT_EQ(run["spec"]["arguments"]["parameters"].dump(), R"([{"name":"turn","value":"1"}])");
  EXPECT_EQ(run["metadata"]["annotations"]["pipelines.kubeflow.org/run_name"].as_string(),
            "hourly 2026-01-01T01:00:00Z");
  EXPECT_EQ(run["metadata"]["annotations"]["pipelines.kubeflow.org/run_experiment"].as_string(), "shelf");
  // One at a time: the next one waits for its end.
  clock.at("2026-01-01T02:00:00Z");
  EXPECT_EQ(workflows.size(), 1U);
}

TEST(RecurringRun, CrashesMakeNoRunTwice) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Clock clock(R"(, "maxConcurrency": 10)", kEveryHour, seed);
    clock.faults = true;
    for (int minute = 0; minute <= 240; minute += 10) {
      clock.world.now = *base::parse_rfc3339("2026-01-01T00:00:00Z") + base::minutes(minute);
      clock.look("ns/h");
    }
    clock.at("2026-01-01T04:00:00Z");
    ASSERT_EQ(clock.runs(), (Lines{"01:00", "02:00", "03:00", "04:00"})) << seed;
  }
}

TEST(RecurringRun, NamesOfRunsAreLabels) {
  const std::string name = run_name(std::string(100, 'a') + ".b", *base::parse_rfc3339("2026-01-01T01:00:00Z"));
  EXPECT_LE(name.size(), 63U);
  EXPECT_EQ(name.find('.'), std::string::npos);
}

}  // namespace
}  // namespace controllers::pipelines
