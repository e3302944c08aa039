// Restarts of a task, a pod or a partition: each happens once, whatever pods say meanwhile.
#include <gtest/gtest.h>

#include "base/format.h"
#include "controllers/framework/world_for_tests.h"
#include "controllers/job/controller.h"

namespace controllers::job {
namespace {

using api::Json;
namespace resources = api::resources;

class TargetTest : public ::testing::Test {
 protected:
  TargetTest() { world.use_indexes_of(*controller); }
  // A job "j" of one task "t" with these policies, all its pods running.
  void run(int replicas, std::string_view policies, std::string_view partitions = "") {
    world.put_text(resources::kQueues, R"({"kind": "Queue", "metadata": {"name": "q"}, "status": {"state": "Open"}})");
    world.put_text(resources::kJobs, base::format(R"({{"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job",
      "metadata": {{"name": "j", "namespace": "ns", "uid": "U"}}, "spec": {{"queue": "q", "schedulerName": "volcano",
        "maxRetry": 3, "minAvailable": 1, "policies": [{1}], "tasks": [{{"name": "t", "replicas": {0}, "minAvailable": 1, {2}
          "maxRetry": 3, "template": {{"spec": {{"containers": [{{"name": "c", "image": "i"}}]}}}}}}]}}}})",
                                                  replicas, policies, partitions));
    settle();
    world.edit(resources::kPodGroups, "ns/j-U")->edit("status").set("phase", "Inqueue");
    settle();
    all_run();
  }
  void all_run() {
    for (auto& [key, pod] : world.objects[resources::kPods]) pod.edit("status").set("phase", "Running");
    settle();
  }
  void turn() {
    world.now = world.now + base::seconds(1);
    world.turn(*controller, "ns/j");
  }
  void settle() {
    for (int round = 0; round < 8; ++round) turn();
  }
  Json& pod(int index) { return *world.edit(resources::kPods, base::format("ns/j-t-{}", index)); }
  std::string uid(int index) { return std::string(api::uid_of(pod(index))); }
  void begin_deletion(int index) {
    pod(index).edit("metadata").set("deletionTimestamp", base::format_rfc3339(world.now));
  }
  void erase(int index) { world.erase(resources::kPods, base::format("ns/j-t-{}", index)); }
  const Json& status() { return (*world.find(resources::kJobs, "ns/j"))["status"]; }

  TestWorld world;
  std::unique_ptr<Controller> controller = make_job_controller({});
};

TEST_F(TargetTest, pods_that_fail_together_restart_their_task_once) {
  run(6, R"({"event": "PodFailed", "action": "RestartTask"})");
  for (int i = 0; i < 5; ++i) pod(i).edit("status").set("phase", "Failed");
  turn();
  world.gone();
  settle();
  all_run();
  EXPECT_EQ(status()["retryCount"].as_int(), 1);
  EXPECT_EQ(status()["state"]["phase"].as_string(), "Running");
}

constexpr std::string_view kEvictedPartition = R"({"event": "PodEvicted", "action": "RestartPartition"})";
constexpr std::string_view kOfTwo =
    R"("partitionPolicy": {"totalPartitions": 2, "partitionSize": 2, "minPartitions": 1},)";
constexpr std::string_view kOfOne =
    R"("partitionPolicy": {"totalPartitions": 4, "partitionSize": 1, "minPartitions": 1},)";

TEST_F(TargetTest, a_partition_whose_pods_are_all_going_is_restarted) {
  run(4, kEvictedPartition, kOfTwo);
  for (const int index : {2, 3}) begin_deletion(index);
  turn();
  erase(2);
  turn();
  EXPECT_EQ(status()["state"]["phase"].as_string(), "Restarting");
  erase(3);
  settle();
  all_run();
  EXPECT_EQ(status()["state"]["phase"].as_string(), "Running");
  EXPECT_EQ(status()["retryCount"].as_int(), 0);  // an eviction spends no attempt
}

TEST_F(TargetTest, a_partition_that_is_gone_is_made_again) {
  run(4, kEvictedPartition, kOfOne);
  const std::string gone = uid(3);
  erase(3);
  settle();
  ASSERT_NE(world.find(resources::kPods, "ns/j-t-3"), nullptr);
  EXPECT_NE(uid(3), gone);
}

TEST_F(TargetTest, a_pod_that_vanished_while_nobody_looked_restarts_its_partition) {
  run(4, kEvictedPartition, kOfTwo);
  const std::string kept = uid(0), other = uid(3);
  erase(2);
  controller = make_job_controller({});
  turn();
  world.gone();
  settle();
  all_run();
  EXPECT_EQ(uid(0), kept);
  EXPECT_NE(uid(3), other);
  EXPECT_EQ(status()["retryCount"].as_int(), 0);  // an eviction spends no attempt
}

TEST_F(TargetTest, pods_that_were_going_already_restart_their_task_no_second_time) {
  run(3, R"({"event": "PodEvicted", "action": "RestartTask"})");
  begin_deletion(0);
  begin_deletion(1);
  turn();
  erase(0);  // the first of a drain
  turn();
  erase(2);  // killed by the restart
  settle();
  all_run();
  const std::string replacement = uid(0), other = uid(2);
  erase(1);  // the second of the drain
  settle();
  EXPECT_EQ(uid(0), replacement);
  EXPECT_EQ(uid(2), other);
  EXPECT_EQ(status()["retryCount"].as_int(), 0);  // an eviction spends no attempt
}

TEST_F(TargetTest, a_new_process_takes_what_the_old_one_removed_for_no_failure) {
  run(2, R"({"event": "PodFailed", "action": "RestartJob"})");
  world.edit(resources::kJobs, "ns/j")->edit("spec").edit("tasks").edit(0).set("replicas", 1);
  begin_deletion(1);
  pod(1).edit("status").set("phase", "Failed");
  const std::string before = uid(0);
  controller = make_job_controller({});
  settle();
  EXPECT_EQ(uid(0), before);
  EXPECT_EQ(status()["retryCount"].as_int(), 0);
}

TEST_F(TargetTest, a_new_process_takes_a_half_done_restart_for_no_eviction) {
  run(3, R"({"event": "PodEvicted", "action": "TerminateJob"})");
  erase(0);
  pod(1).edit_path({"metadata", "annotations"}).set("volcano.sh/controller-out-of-sync", "true");
  begin_deletion(1);
  controller = make_job_controller({});
  settle();
  EXPECT_NE(status()["state"]["phase"].as_string(), "Terminated");
  EXPECT_NE(status()["state"]["phase"].as_string(), "Terminating");
}

TEST_F(TargetTest, a_new_process_names_the_pod_that_used_up_its_task) {
  run(3, R"({"event": "TaskFailed", "action": "RestartPod"})");
  for (const auto& [index, restarts] : {std::pair{0, 1}, std::pair{1, 2}})
    pod(index).edit("status").set("containerStatuses",
                                  *api::parse_json(base::format(R"([{{"name": "c", "restartCount": {}}}])", restarts)));
  const std::string kept = uid(0), failed = uid(1);
  controller = make_job_controller({});
  turn();
  world.gone();
  settle();
  EXPECT_EQ(uid(0), kept);
  EXPECT_NE(uid(1), failed);
  EXPECT_EQ(status()["retryCount"].as_int(), 1);
}

TEST_F(TargetTest, the_last_pod_that_failed_stays_with_its_log_whatever_restarts) {
  for (const char* action : {"RestartJob", "RestartTask", "RestartPod", "RestartPartition"}) {
    world.objects.clear();
    controller = make_job_controller({});
    run(4, base::format(R"({{"event": "PodFailed", "action": "{}"}})", action), kOfTwo);
    for (int attempt = 1; attempt <= 3; ++attempt) {
      ASSERT_EQ(status()["state"]["phase"].as_string(), "Running") << action << " " << attempt;
      const std::string failed = uid(2);
      pod(2).edit("status").set("phase", "Failed");
      settle();
      world.gone();
      settle();
      ASSERT_EQ(status()["retryCount"].as_int(), attempt) << action;
      if (attempt == 3) {
        EXPECT_EQ(status()["state"]["phase"].as_string(), "Failed") << action;
        EXPECT_EQ(uid(2), failed) << action;
        EXPECT_EQ(pod(2)["status"]["phase"].as_string(), "Failed") << action;
        EXPECT_EQ(status()["failed"].as_int(), 1) << action;
        continue;
      }
      world.now = world.now + base::minutes(6);
      settle();
      if (api::Json* group = world.edit(resources::kPodGroups, "ns/j-U")) group->edit("status").set("phase", "Inqueue");
      settle();
      EXPECT_NE(uid(2), failed) << action;
      all_run();
    }
  }
}

TEST_F(TargetTest, a_pod_that_is_lost_again_and_again_is_made_after_a_pause_that_grows) {
  run(2, "");
  for (const int seconds : {0, 10, 20}) {
    erase(1);
    turn();
    int waited = 0;
    for (; world.find(resources::kPods, "ns/j-t-1") == nullptr && waited < 100; ++waited) turn();
    EXPECT_NEAR(waited, seconds, 2);
    all_run();
  }
  erase(1);
  for (int i = 0; i < 3; ++i) turn();
  EXPECT_EQ(status()["state"]["message"].as_string(),
            "pods of task t ended within a minute of their start; the next ones come after a pause");
}

}  // namespace
}  // namespace controllers::job
