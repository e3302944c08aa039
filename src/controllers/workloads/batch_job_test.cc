// How a Job counts, ends, waits, is suspended and goes; and that no pod is counted twice whatever fails.
#include "controllers/workloads/batch_job.h"

#include <gtest/gtest.h>

#include <set>

#include "api/native_group_resources.h"
#include "base/format.h"
#include "controllers/framework/trial_for_tests.h"
#include "controllers/workloads/batch_job_state.h"

namespace controllers::workloads {
namespace {

using api::Json;
namespace resources = api::resources;

const std::string kKey = "ns/pi";

Json job(std::string_view spec = "{}") {
  Json made = *api::parse_json(R"({"apiVersion": "batch/v1", "kind": "Job",
      "metadata": {"name": "pi", "namespace": "ns", "uid": "j", "generation": 1},
      "spec": {"parallelism": 1, "completions": 1, "backoffLimit": 6, "completionMode": "NonIndexed",
        "suspend": false, "podReplacementPolicy": "TerminatingOrFailed",
        "selector": {"matchLabels": {"job": "pi"}},
        "template": {"metadata": {"labels": {"job": "pi"}},
                     "spec": {"restartPolicy": "Never", "containers": [{"name": "c"}]}}}, "status": {}})");
  merge_patch(made, Json::object({{"spec", *api::parse_json(spec)}}));
  return made;
}

struct One {
  explicit One(std::string_view spec = "{}") : controller(make_batch_job_controller()) {
    world.use_indexes_of(*controller);
    world.put(kBatchJobs, job(spec));
  }
  std::string look() { return world.turn(*controller, kKey); }
  void settle() {
    for (int i = 0; i < 10; ++i) look();
  }
  std::size_t with_phase(std::string_view phase) const {
    std::size_t count = 0;
    for (const Json* pod : world.all(resources::kPods)) count += (*pod)["status"]["phase"].as_string() == phase;
    return count;
  }
  // Ends so many pods that have not ended.
  void end(std::size_t count, std::string_view phase, int exit_code = 0) {
    for (auto& [key, pod] : world.objects[resources::kPods]) {
      if (is_over(pod) || count == 0) continue;
      --count;
      pod.set("status", *api::parse_json(base::format(R"({{"phase": "{}", "containerStatuses": [{{"name": "c", "state":
                  {{"terminated": {{"exitCode": {}, "finishedAt": "{}"}}}}}}]}})",
                                                      phase, exit_code, base::format_rfc3339(world.now))));
    }
  }
  const Json& status() const { return (*world.find(kBatchJobs, kKey))["status"]; }
  Json& spec() { return world.edit(kBatchJobs, kKey)->edit("spec"); }
  std::string reason(std::string_view type) const { return condition_of(status(), type)["reason"].str(); }

  TestWorld world;
  std::unique_ptr<Controller> controller;
};

TEST(BatchJob, numbers_are_kept_as_ranges) {
  for (const char* text : {"", "0", "0,1", "0-2", "1,3-5,9"}) EXPECT_EQ(NumberSet::parse(text)->text(), text);
  for (const char* text : {"x", "3-1", "1,1", "2,1", "-", "99999999999999"})
    EXPECT_FALSE(NumberSet::parse(text)) << text;
  NumberSet numbers;
  for (const int number : {5, 1, 0, 2, 7, 6, 5}) numbers.add(number);
  EXPECT_EQ(numbers.text(), "0-2,5-7");
  EXPECT_EQ(numbers.count(), 6);
  EXPECT_EQ(numbers.below(6).text(), "0-2,5");
  EXPECT_TRUE(numbers.has(6) && !numbers.has(3) && !numbers.has(8));
}

TEST(BatchJob, the_first_that_is_absent) {
  const NumberSet numbers = *NumberSet::parse("0-3,4,7-2000000000");
  for (const auto& [from, absent] : {std::pair<std::int64_t, std::int64_t>{0, 5}, {5, 5}, {6, 6}, {7, 2'000'000'001}})
    EXPECT_EQ(numbers.first_absent(from), absent) << from;
  EXPECT_EQ(NumberSet().first_absent(0), 0);
}

TEST(BatchJob, runs_to_its_completions) {
  One run(R"({"completions": 5, "parallelism": 2})");
  for (int round = 0; round < 5; ++round) {
    run.settle();
    EXPECT_LE(run.with_phase("Succeeded") + 2, 7U);
    run.end(1, "Succeeded");
  }
  run.settle();
  EXPECT_EQ(run.status()["succeeded"].as_int(), 5);
  EXPECT_EQ(run.reason("SuccessCriteriaMet"), "CompletionsReached");
  EXPECT_EQ(run.reason("Complete"), "CompletionsReached");
  EXPECT_FALSE(run.status()["completionTime"].is_null());
  EXPECT_EQ(run.world.all(resources::kPods).size(), 5U);
}

TEST(BatchJob, its_pods_wait_for_their_group_and_name_it) {
  One run(R"({"completions": 3, "parallelism": 3, "scheduling": {"schedulingPolicy": {"gang": {}}}})");
  std::vector<std::string> seen;
  for (int i = 0; i < 4; ++i) {
    run.look();
    seen.push_back(base::format("{} {} {}", run.world.all(resources::kNativeWorkloads).size(),
                                run.world.all(resources::kNativePodGroups).size(),
                                run.world.all(resources::kPods).size()));
  }
  EXPECT_EQ(seen, (std::vector<std::string>{"1 0 0", "1 1 0", "1 1 3", "1 1 3"}));
  const Json& group = *run.world.all(resources::kNativePodGroups).front();
  EXPECT_EQ(group["spec"]["schedulingPolicy"].dump(), R"({"gang":{"minCount":3}})");
  for (const Json* pod : run.world.all(resources::kPods))
    EXPECT_EQ((*pod)["spec"]["schedulingGroup"]["podGroupName"].as_string(), api::name_of(group));
}

TEST(BatchJob, a_group_of_somebody_else_is_left_alone) {
  One run(R"({"completions": 2, "parallelism": 2, "scheduling": {"schedulingPolicy": {"gang": {}}}})");
  run.look();
  Json& workload =
      *run.world.edit(resources::kNativeWorkloads, api::key_of(*run.world.all(resources::kNativeWorkloads).front()));
  workload.edit("metadata").erase("ownerReferences");
  const Json before = workload;
  for (int i = 0; i < 3; ++i) run.look();
  EXPECT_EQ(*run.world.all(resources::kNativeWorkloads).front(), before);
  EXPECT_TRUE(run.world.all(resources::kNativePodGroups).empty());
  EXPECT_TRUE(run.world.all(resources::kPods).empty());
}

// A number that somebody else writes could make the numbers after it unreadable, and their pods uncounted.
TEST(BatchJob, a_number_that_a_stranger_wrote_ends_no_counting) {
  One run(R"({"completions": 3, "parallelism": 1})");
  run.settle();
  run.world.objects[resources::kPods]
      .begin()
      ->second.edit_path({"metadata", "annotations"})
      .set("volcano.sh/job-pod-number", "100000000000");
  for (int round = 0; round < 3; ++round) {
    run.settle();
    run.end(1, "Succeeded");
  }
  run.settle();
  EXPECT_EQ(run.status()["succeeded"].as_int(), 3);
}

TEST(BatchJob, without_completions_one_success_ends_it_when_all_have_ended) {
  One run(R"({"completions": null, "parallelism": 3})");
  run.settle();
  run.end(1, "Succeeded");
  run.settle();
  EXPECT_EQ(run.reason("Complete"), "");
  EXPECT_EQ(run.world.all(resources::kPods).size(), 3U) << "no new ones";
  run.end(2, "Succeeded");
  run.settle();
  EXPECT_EQ(run.status()["succeeded"].as_int(), 3);
  EXPECT_EQ(run.reason("Complete"), "CompletionsReached");
}

TEST(BatchJob, every_index_succeeds_once) {
  One run(R"({"completions": 4, "parallelism": 4, "completionMode": "Indexed"})");
  run.settle();
  const Json* first = run.world.all(resources::kPods).front();
  EXPECT_TRUE(api::name_of(*first).starts_with("pi-0-"));
  EXPECT_EQ((*first)["spec"]["hostname"].as_string(), "pi-0");
  EXPECT_EQ((*first)["spec"]["containers"][std::size_t{0}]["env"][std::size_t{0}]["name"].as_string(),
            "JOB_COMPLETION_INDEX");
  run.end(2, "Succeeded");
  run.settle();
  EXPECT_EQ(run.status()["completedIndexes"].as_string(), "0,1");
  run.end(1, "Failed", 1);
  run.world.now = run.world.now + base::seconds(11);
  run.settle();
  run.end(9, "Succeeded");
  run.settle();
  EXPECT_EQ(run.status()["completedIndexes"].as_string(), "0-3");
  EXPECT_EQ(run.status()["failed"].as_int(), 1);
  EXPECT_EQ(run.reason("Complete"), "CompletionsReached");
}

TEST(BatchJob, a_failure_is_followed_by_a_pause_that_grows) {
  One run;
  for (const int pause : {10, 20, 40}) {
    run.settle();
    run.end(1, "Failed", 1);
    run.settle();
    const std::size_t before = run.world.all(resources::kPods).size();
    run.world.now = run.world.now + base::seconds(pause - 1);
    run.settle();
    EXPECT_EQ(run.world.all(resources::kPods).size(), before) << pause;
    run.world.now = run.world.now + base::seconds(2);
    run.settle();
    EXPECT_EQ(run.world.all(resources::kPods).size(), before + 1) << pause;
  }
}

TEST(BatchJob, failures_that_a_stranger_wrote_grow_no_further_than_a_count) {
  One run;
  run.settle();
  run.world.edit(kBatchJobs, kKey)->edit("status").set("failed", INT32_MAX);
  run.end(1, "Failed", 1);
  run.settle();
  EXPECT_EQ(run.status()["failed"].as_int(), INT32_MAX);
  EXPECT_EQ(run.reason("Failed"), "BackoffLimitExceeded");
}

TEST(BatchJob, what_ends_it) {
  struct Row {
    const char* why;
    const char* spec;
    int exit_code;
    int seconds;
    const char* reason;
    int failed;
  };
  const Row rows[] = {
      {"too many failures", R"({"backoffLimit": 0})", 1, 0, "BackoffLimitExceeded", 1},
      {"one more is allowed", R"({"backoffLimit": 1})", 1, 0, "", 1},
      {"too long", R"({"activeDeadlineSeconds": 30})", -1, 31, "DeadlineExceeded", 1},
      {"not yet too long", R"({"activeDeadlineSeconds": 30})", -1, 29, "", 0},
      {"a code that ends it", R"({"podFailurePolicy": {"rules": [{"action": "FailJob",
          "onExitCodes": {"operator": "In", "values": [42]}}]}})",
       42, 0, "PodFailurePolicy", 1},
      {"another code", R"({"podFailurePolicy": {"rules": [{"action": "FailJob",
          "onExitCodes": {"operator": "In", "values": [42]}}]}})",
       1, 0, "", 1},
      {"a code that does not count", R"({"backoffLimit": 0, "podFailurePolicy": {"rules": [{"action": "Ignore",
          "onExitCodes": {"operator": "NotIn", "values": [1]}}]}})",
       7, 0, "", 0}};
  for (const Row& row : rows) {
    One run(row.spec);
    run.world.deletes_pods_slowly = false;
    run.settle();
    if (row.exit_code >= 0) run.end(1, "Failed", row.exit_code);
    run.world.now = run.world.now + base::seconds(row.seconds);
    run.settle();
    EXPECT_EQ(run.reason("FailureTarget"), row.reason) << row.why;
    EXPECT_EQ(run.reason("Failed"), row.reason) << row.why;
    EXPECT_EQ(run.status()["failed"].as_int(), row.failed) << row.why;
    if (*row.reason) {
      EXPECT_EQ(run.status()["active"].as_int(), 0) << row.why;
    }
  }
}

TEST(BatchJob, its_end_waits_for_pods_on_their_way_out) {
  One run(R"({"parallelism": 3, "completions": 3, "backoffLimit": 0})");
  run.settle();
  for (auto& [key, pod] : run.world.objects[resources::kPods]) pod.edit("spec").set("nodeName", "n");
  run.end(1, "Failed", 1);
  run.settle();
  EXPECT_EQ(run.reason("FailureTarget"), "BackoffLimitExceeded");
  EXPECT_EQ(run.reason("Failed"), "") << "two pods are still there";
  EXPECT_EQ(run.status()["terminating"].as_int(), 2);
  run.world.gone();
  run.settle();
  EXPECT_EQ(run.reason("Failed"), "BackoffLimitExceeded");
  EXPECT_EQ(run.status()["failed"].as_int(), 3);
}

TEST(BatchJob, suspended_its_pods_go_and_do_not_count) {
  One run(R"({"parallelism": 2, "completions": 2})");
  run.world.deletes_pods_slowly = false;
  run.settle();
  run.spec().set("suspend", true);
  run.settle();
  EXPECT_EQ(run.reason("Suspended"), "JobSuspended");
  EXPECT_EQ(run.world.all(resources::kPods).size(), 0U);
  EXPECT_TRUE(run.status()["failed"].is_null());
  run.spec().set("suspend", false);
  run.settle();
  EXPECT_EQ(condition_of(run.status(), "Suspended")["status"].as_string(), "False");
  EXPECT_EQ(run.world.all(resources::kPods).size(), 2U);
}

TEST(BatchJob, fewer_at_once_deletes_and_counts_nothing) {
  One run(R"({"parallelism": 4, "completions": 4})");
  run.world.deletes_pods_slowly = false;
  run.settle();
  run.spec().set("parallelism", 1);
  run.settle();
  EXPECT_EQ(run.world.all(resources::kPods).size(), 1U);
  EXPECT_TRUE(run.status()["failed"].is_null());
}

TEST(BatchJob, a_pod_that_was_counted_and_deleted_stays_counted) {
  One run(R"({"parallelism": 1, "completions": 3})");
  for (int round = 0; round < 3; ++round) {
    run.settle();
    run.end(1, "Succeeded");
    run.settle();
    for (const Json* pod : run.world.all(resources::kPods))
      if (is_over(*pod)) {
        run.world.erase(resources::kPods, api::key_of(*pod));
        break;
      }
    run.controller = make_batch_job_controller();
  }
  run.settle();
  EXPECT_EQ(run.status()["succeeded"].as_int(), 3);
}

TEST(BatchJob, goes_when_its_time_to_live_is_over) {
  TestWorld world;
  const auto ttl = make_ttl_controller();
  world.put(kBatchJobs, job(R"({"ttlSecondsAfterFinished": 10})"))
      .set("status", *api::parse_json(base::format(
                         R"({{"conditions": [{{"type": "Complete", "status": "True", "lastTransitionTime": "{}"}}]}})",
                         base::format_rfc3339(world.now))));
  EXPECT_EQ(world.turn(*ttl, kKey), "");
  world.now = world.now + base::seconds(11);
  EXPECT_EQ(world.turn(*ttl, kKey), "delete Job ns/pi\n");
}

TEST(BatchJob, counts_every_pod_once_whatever_fails) {
  for (std::uint64_t seed = 1; seed <= 80; ++seed) {
    Trial trial(seed, make_batch_job_controller);
    TestWorld& world = trial.world;
    const bool indexed = seed % 2 == 0;
    world.put(kBatchJobs, job(base::format(R"({{"completions": 6, "parallelism": 3, "backoffLimit": 1000,
                                              "completionMode": "{}"}})",
                                           indexed ? "Indexed" : "NonIndexed")));
    std::set<std::string> succeeded, failed;
    for (int round = 0; round < 400; ++round) {
      if (round == 300) trial.faults = false;
      trial.look(kKey);
      const NumberSet settled = *NumberSet::parse(api::annotation_of(*world.find(kBatchJobs, kKey), kSettled));
      const auto is_settled = [&](const Json& pod) {
        return settled.has(NumberSet::parse(api::annotation_of(pod, kPodNumber))->highest());
      };
      for (auto& [key, pod] : world.objects[resources::kPods]) {
        if (is_over(pod) || api::is_deleting(pod) || !world.dice.chance(0.1)) continue;
        const bool good = world.dice.chance(0.7);
        pod.edit("status").set("phase", good ? "Succeeded" : "Failed");
        if (!is_settled(pod)) (good ? succeeded : failed).insert(std::string(api::uid_of(pod)));
      }
      // Pods that ended and are in the counts may be cleaned away.
      std::vector<std::string> gone;
      for (const auto& [key, pod] : world.objects[resources::kPods]) {
        if (is_over(pod) && is_settled(pod) && world.dice.chance(0.1)) gone.push_back(key);
      }
      for (const std::string& key : gone) world.erase(resources::kPods, key);
      world.now = world.now + base::seconds(60);
    }
    const Json& status = (*world.find(kBatchJobs, kKey))["status"];
    EXPECT_EQ(condition_of(status, "Complete")["status"].as_string(), "True") << seed;
    EXPECT_EQ(status["succeeded"].as_int(), 6) << seed;
    EXPECT_EQ(static_cast<std::size_t>(status["failed"].as_int()), failed.size()) << seed;
    EXPECT_GE(succeeded.size(), 6U) << seed;
    EXPECT_TRUE(trial.comes_to_rest(kKey)) << seed;
  }
}

// A pod every quarter of a second would be made otherwise, for as long as the Job is there.
TEST(BatchJob, what_ends_again_and_again_is_made_more_and_more_seldom_whether_it_counts_or_not) {
  for (const bool vanishes : {false, true}) {
    One one(R"({"podFailurePolicy": {"rules": [{"action": "Ignore", "onExitCodes": {"operator": "In", "values": [3]}},
        {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}]}})");
    std::set<std::string> made;
    for (int second = 0; second < 1'200; ++second) {
      one.world.now = one.world.now + base::seconds(1);
      one.look();
      for (const Json* pod : one.world.all(resources::kPods)) made.insert(std::string(api::uid_of(*pod)));
      if (vanishes) {
        for (auto& [key, pod] : one.world.objects[resources::kPods]) {
          pod.set("status",
                  *api::parse_json(
                      R"({"phase": "Failed", "conditions": [{"type": "DisruptionTarget", "status": "True"}]})"));
        }
        one.look();
        one.world.objects[resources::kPods].clear();
      } else {
        one.end(1, "Failed", 3);
      }
    }
    EXPECT_GT(made.size(), 5U);
    EXPECT_LT(made.size(), 12U);
    EXPECT_EQ(one.status()["failed"].as_int(), 0);
  }
}

}  // namespace
}  // namespace controllers::workloads
