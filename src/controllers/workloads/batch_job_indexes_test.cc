// Limits of each index, and success policies.
#include <gtest/gtest.h>

#include "base/format.h"
#include "controllers/framework/world_for_tests.h"
#include "controllers/workloads/batch_job_state.h"

namespace controllers::workloads {
namespace {

using api::Json;
namespace resources = api::resources;

const std::string kKey = "ns/pi";

struct IndexedJob {
  explicit IndexedJob(std::string_view spec) : controller(make_batch_job_controller()) {
    Json job = *api::parse_json(R"({"apiVersion": "batch/v1", "kind": "Job",
      "metadata": {"name": "pi", "namespace": "ns", "uid": "j", "generation": 1},
      "spec": {"parallelism": 4, "completions": 4, "backoffLimit": 2147483647, "completionMode": "Indexed",
        "suspend": false, "podReplacementPolicy": "TerminatingOrFailed", "selector": {"matchLabels": {"job": "pi"}},
        "template": {"metadata": {"labels": {"job": "pi"}},
                     "spec": {"restartPolicy": "Never", "containers": [{"name": "c"}]}}}, "status": {}})");
    merge_patch(job, Json::object({{"spec", *api::parse_json(spec)}}));
    world.use_indexes_of(*controller);
    world.put(kBatchJobs, job);
    settle();
  }
  void settle() {
    for (int i = 0; i < 10; ++i) world.turn(*controller, kKey);
  }
  void pass(base::Duration time) {
    world.now = world.now + time;
    settle();
  }
  // The pod that works at an index; null: none does.
  Json* pod_at(std::int64_t index) {
    for (auto& [key, pod] : world.objects[resources::kPods])
      if (!is_over(pod) && index_of(pod) == index) return &pod;
    return nullptr;
  }
  void end(std::int64_t index, std::string_view phase, int exit_code = 0) {
    Json* pod = pod_at(index);
    ASSERT_NE(pod, nullptr) << index;
    pod->set("status", *api::parse_json(base::format(R"({{"phase": "{}", "containerStatuses": [{{"name": "c", "state":
               {{"terminated": {{"exitCode": {}, "finishedAt": "{}"}}}}}}]}})",
                                                     phase, exit_code, base::format_rfc3339(world.now))));
    settle();
  }
  const Json& status() const { return (*world.find(kBatchJobs, kKey))["status"]; }
  std::string condition(std::string_view type) const {
    const Json& found = condition_of(status(), type);
    return found.is_null() ? "" : base::format("{}: {}", found["reason"].as_string(), found["message"].as_string());
  }
  std::size_t at_work() {
    std::size_t count = 0;
    for (std::int64_t index = 0; index < 4; ++index) count += pod_at(index) != nullptr;
    return count;
  }

  TestWorld world;
  std::unique_ptr<Controller> controller;
};

TEST(BatchJobIndexes, one_that_fails_too_often_is_lost_and_the_others_go_on) {
  IndexedJob run(R"({"backoffLimitPerIndex": 1})");
  EXPECT_EQ(run.status()["failedIndexes"].as_string("none"), "");
  run.end(1, "Failed", 1);
  EXPECT_EQ(run.pod_at(1), nullptr) << "it waits for ten seconds";
  run.end(0, "Succeeded");
  run.pass(base::seconds(11));
  ASSERT_NE(run.pod_at(1), nullptr);
  EXPECT_EQ(api::annotation_of(*run.pod_at(1), "batch.kubernetes.io/job-index-failure-count"), "1");
  EXPECT_EQ(api::annotation_of(*run.pod_at(2), "batch.kubernetes.io/job-index-failure-count"), "0");
  run.end(1, "Failed", 1);
  EXPECT_EQ(run.status()["failedIndexes"].as_string(), "1");
  run.pass(base::minutes(30));
  EXPECT_EQ(run.pod_at(1), nullptr);
  EXPECT_EQ(run.condition("FailureTarget"), "");
  run.end(2, "Succeeded");
  run.end(3, "Succeeded");
  EXPECT_EQ(run.condition("Failed"), "FailedIndexes: Job has failed indexes");
  EXPECT_EQ(run.status()["completedIndexes"].as_string(), "0,2,3");
  EXPECT_EQ(run.status()["failed"].as_int(), 2);
}

TEST(BatchJobIndexes, another_index_does_not_wait) {
  IndexedJob run(R"({"backoffLimitPerIndex": 5, "parallelism": 1})");
  run.end(0, "Failed", 1);
  EXPECT_EQ(run.pod_at(0), nullptr);
  EXPECT_NE(run.pod_at(1), nullptr);
}

TEST(BatchJobIndexes, too_many_lost_ones_end_the_job) {
  IndexedJob run(R"({"backoffLimitPerIndex": 0, "maxFailedIndexes": 1})");
  run.end(0, "Failed", 1);
  EXPECT_EQ(run.condition("FailureTarget"), "");
  run.end(3, "Failed", 1);
  EXPECT_EQ(run.condition("Failed"),
            "MaxFailedIndexesExceeded: Job has exceeded the specified maximal number of failed indexes");
  EXPECT_EQ(run.status()["failedIndexes"].as_string(), "0,3");
  EXPECT_EQ(run.at_work(), 0U);
}

TEST(BatchJobIndexes, a_rule_loses_one_at_once_and_ignored_failures_cost_a_pause_only) {
  IndexedJob run(R"({"backoffLimitPerIndex": 1, "podReplacementPolicy": "Failed", "podFailurePolicy": {"rules": [
      {"action": "FailIndex", "onExitCodes": {"operator": "In", "values": [42]}},
      {"action": "Ignore", "onExitCodes": {"operator": "In", "values": [7]}}]}})");
  run.end(0, "Failed", 42);
  EXPECT_EQ(run.status()["failedIndexes"].as_string(), "0");
  for (const int seconds : {11, 21, 41}) {
    run.end(1, "Failed", 7);
    EXPECT_EQ(run.pod_at(1), nullptr);
    run.pass(base::seconds(seconds));
    ASSERT_NE(run.pod_at(1), nullptr) << seconds;
  }
  EXPECT_EQ(api::annotation_of(*run.pod_at(1), "batch.kubernetes.io/job-index-ignored-failure-count"), "3");
  EXPECT_EQ(run.status()["failedIndexes"].as_string(), "0");
}

TEST(BatchJobIndexes, a_success_policy_ends_the_job_with_what_suffices) {
  struct Row {
    const char* rules;
    std::vector<std::int64_t> succeed;
    const char* complete;
  };
  for (const Row& row :
       {Row{R"([{"succeededIndexes": "0"}])", {0}, "SuccessPolicy: Matched rules at index 0"},
        Row{R"([{"succeededIndexes": "0"}])", {1, 2}, ""},
        Row{R"([{"succeededIndexes": "0-2", "succeededCount": 2}])", {1, 2}, "SuccessPolicy: Matched rules at index 0"},
        Row{R"([{"succeededIndexes": "3"}, {"succeededCount": 2}])",
            {1, 2},
            "SuccessPolicy: Matched rules at index 1"}}) {
    IndexedJob run(base::format(R"({{"successPolicy": {{"rules": {}}}}})", row.rules));
    for (const std::int64_t index : row.succeed) run.end(index, "Succeeded");
    EXPECT_EQ(run.condition("Complete"), row.complete) << row.rules;
    EXPECT_EQ(run.at_work(), *row.complete != 0 ? 0U : 4 - row.succeed.size()) << row.rules;
    EXPECT_EQ(run.status()["failed"].as_int(), 0) << row.rules;
  }
}

// The pod that holds an index may take long to leave.
TEST(BatchJobIndexes, one_is_not_given_to_a_second_pod_before_the_first_is_over) {
  IndexedJob run(R"({"podReplacementPolicy": "Failed", "parallelism": 3})");
  run.pod_at(0)->edit("metadata").set("deletionTimestamp", base::format_rfc3339(run.world.now));
  run.end(2, "Succeeded");
  std::size_t with_zero = 0;
  for (const Json* pod : run.world.all(resources::kPods)) with_zero += index_of(*pod) == 0;
  EXPECT_EQ(with_zero, 1U);
  EXPECT_NE(run.pod_at(3), nullptr);
}

TEST(BatchJobIndexes, numbers_in_common_are_counted_by_ranges) {
  const auto common = [](const char* a, const char* b) {
    return NumberSet::parse(a)->count_common(*NumberSet::parse(b));
  };
  EXPECT_EQ(common("0-3,7", "2-8"), 3);
  EXPECT_EQ(common("0-9", "1,3,5-6"), 4);
  EXPECT_EQ(common("0-1000000000", "5-900000000"), 899999996);
  EXPECT_EQ(common("", "1"), 0);
}

}  // namespace
}  // namespace controllers::workloads
