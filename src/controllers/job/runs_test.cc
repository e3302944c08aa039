// Jobs of vsub: arrays with a limit, jobs that wait for jobs, and pods that a stop of the machine ended.
#include "controllers/job/runs.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/format.h"
#include "controllers/framework/world_for_tests.h"
#include "controllers/job/controller.h"

namespace controllers::job {
namespace {

using api::Json;
namespace resources = api::resources;

class RunsTest : public ::testing::Test {
 protected:
  RunsTest() {
    world.use_indexes_of(*controller);
    world.put_text(resources::kQueues, R"({"kind": "Queue", "metadata": {"name": "q"}, "status": {"state": "Open"}})");
  }
  void put_job(std::string_view annotations, int replicas, std::string_view name = "j") {
    world.put_text(
        resources::kJobs,
        base::format(R"({{"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {{"name": "{}",
          "namespace": "ns", "uid": "U", "annotations": {}}}, "spec": {{"queue": "q", "schedulerName": "volcano",
          "maxRetry": 3, "minAvailable": 1, "tasks": [{{"name": "t", "replicas": {}, "minAvailable": 1, "maxRetry": 3,
          "template": {{"spec": {{"containers": [{{"name": "c", "image": "i"}}]}}}}}}]}}}})",
                     name, annotations, replicas));
  }
  void settle() {
    for (int round = 0; round < 8; ++round) {
      world.now = world.now + base::seconds(1);
      world.turn(*controller, "ns/j");
    }
  }
  void admit() {
    settle();
    world.edit(resources::kPodGroups, "ns/j-U")->edit("status").set("phase", "Inqueue");
    settle();
  }
  void set_pod(const std::string& name, std::string_view phase, std::string_view reason = "") {
    Json& status = world.edit(resources::kPods, "ns/" + name)->edit("status");
    status.set("phase", phase);
    if (!reason.empty()) status.set("reason", reason);
  }
  const Json* pod(const std::string& name) const { return world.find(resources::kPods, "ns/" + name); }
  const Json& job() const { return *world.find(resources::kJobs, "ns/j"); }
  std::string phase() const { return job()["status"]["state"]["phase"].str(); }

  TestWorld world;
  std::unique_ptr<Controller> controller = make_job_controller({});
};

TEST_F(RunsTest, AnArrayRunsSoManyAtOnce) {
  put_job(R"({"volcano.sh/array": "10-14%2"})", 5);
  admit();
  ASSERT_NE(pod("j-t-1"), nullptr);
  EXPECT_EQ(pod("j-t-2"), nullptr);
  EXPECT_EQ((*pod("j-t-1"))["spec"]["containers"][std::size_t{0}]["env"].dump(),
            R"([{"name":"VSUB_ARRAY_INDEX","value":"11"}])");
  set_pod("j-t-0", "Succeeded");
  settle();
  EXPECT_NE(pod("j-t-2"), nullptr);
  EXPECT_EQ(pod("j-t-3"), nullptr);
  for (const char* name : {"j-t-1", "j-t-2"}) set_pod(name, "Succeeded");
  settle();
  for (const char* name : {"j-t-3", "j-t-4"}) set_pod(name, "Succeeded");
  settle();
  EXPECT_EQ(phase(), "Completed");
}

TEST_F(RunsTest, AJobWaitsForAnother) {
  put_job(R"({"volcano.sh/depends-on-jobs": "before"})", 1);
  settle();
  EXPECT_EQ(world.find(resources::kPodGroups, "ns/j-U"), nullptr);
  EXPECT_EQ(job()["status"]["state"]["message"].as_string(), "it waits for job before, which does not exist");
  put_job("{}", 1, "before");
  world.edit(resources::kJobs, "ns/before")->set("status", *api::parse_json(R"({"state": {"phase": "Failed"}})"));
  settle();
  EXPECT_EQ(job()["status"]["state"]["message"].as_string(),
            "it never starts: job before is Failed; run that one again (vresume -n before), or take this one away "
            "(vcancel -n j)");
  EXPECT_EQ(job()["status"]["state"]["reason"].as_string(), "DependencyNeverSatisfied");
  EXPECT_EQ(phase(), "Pending");
  EXPECT_EQ(std::ranges::count_if(world.events, [](const auto& one) { return one.starts_with("DependencyNever"); }), 1);
  world.edit(resources::kJobs, "ns/before")->set("status", *api::parse_json(R"({"state": {"phase": "Completed"}})"));
  settle();
  EXPECT_NE(world.find(resources::kPodGroups, "ns/j-U"), nullptr);
}

// An array is complete when enough of its runs are, and who waits for it waits for all of them.
TEST_F(RunsTest, AJobWaitsForAllRunsOfAnArray) {
  put_job(R"({"volcano.sh/depends-on-jobs": "before"})", 1);
  put_job(R"({"volcano.sh/array": "1-4"})", 4, "before");
  const auto end = [&](int failed) {
    world.edit(resources::kJobs, "ns/before")
        ->set("status",
              *api::parse_json(base::format(R"({{"state": {{"phase": "Completed"}}, "failed": {}}})", failed)));
    settle();
  };
  end(2);
  EXPECT_TRUE(job()["status"]["state"]["message"].as_string().starts_with(
      "it never starts: 2 of the runs of job before failed; "));
  EXPECT_EQ(world.find(resources::kPodGroups, "ns/j-U"), nullptr);
  end(0);
  EXPECT_NE(world.find(resources::kPodGroups, "ns/j-U"), nullptr);
}

TEST_F(RunsTest, AJobEndsWithTheJobBeforeItWhereItIsToldSo) {
  put_job(R"({"volcano.sh/depends-on-jobs": "before,other", "volcano.sh/kill-on-invalid-dependency": "true"})", 1);
  put_job("{}", 1, "before");
  settle();
  EXPECT_EQ(phase(), "Pending");
  put_job("{}", 1, "other");
  world.edit(resources::kJobs, "ns/other")->set("status", *api::parse_json(R"({"state": {"phase": "Terminated"}})"));
  settle();
  EXPECT_EQ(phase(), "Terminated");
  EXPECT_NE(job()["status"]["state"]["message"].as_string().find("job other is Terminated"), std::string::npos)
      << job().dump();
  EXPECT_EQ(world.find(resources::kPodGroups, "ns/j-U"), nullptr);
}

TEST_F(RunsTest, WhatAStopEndedRunsAgainWithoutCostingARetry) {
  put_job("{}", 1);
  admit();
  const std::string first(api::uid_of(*pod("j-t-0")));
  set_pod("j-t-0", "Running");
  settle();
  set_pod("j-t-0", "Failed", "Terminated");
  settle();
  world.gone();
  settle();
  ASSERT_NE(pod("j-t-0"), nullptr) << job().dump();
  EXPECT_NE(api::uid_of(*pod("j-t-0")), first);
  EXPECT_NE((*pod("j-t-0"))["status"]["phase"].as_string(), "Failed");
  EXPECT_EQ(job()["status"]["retryCount"].as_int(), 0);
  EXPECT_NE(phase(), "Failed");
}

TEST_F(RunsTest, ALossOfPowerIsAStopAndAPlainFailureIsNone) {
  put_job("{}", 1);
  const auto read = [](std::string_view text) { return *api::parse_json(text); };
  const Job job = read_job(this->job());
  EXPECT_TRUE(is_to_run_again(job, read(R"({"status": {"phase": "Failed", "containerStatuses":
      [{"state": {"terminated": {"reason": "ContainerStatusUnknown", "exitCode": 137}}}]}})")));
  EXPECT_FALSE(is_to_run_again(job, read(R"({"status": {"phase": "Failed", "containerStatuses":
      [{"state": {"terminated": {"reason": "Error", "exitCode": 1}}}]}})")));
  EXPECT_FALSE(is_to_run_again(job, read(R"({"status": {"phase": "Running", "reason": "Terminated"}})")));
  put_job(R"({"volcano.sh/requeue": "false"})", 1);
  EXPECT_FALSE(
      is_to_run_again(read_job(this->job()), read(R"({"status": {"phase": "Failed", "reason": "NodeShutdown"}})")));
}

TEST_F(RunsTest, AFailedJobRunsAgainWhenItIsTold) {
  put_job("{}", 1);
  admit();
  set_pod("j-t-0", "Failed");
  settle();
  ASSERT_EQ(phase(), "Failed");
  world.put_text(resources::kCommands, R"({"apiVersion": "bus.volcano.sh/v1alpha1", "kind": "Command", "metadata":
    {"name": "c", "namespace": "ns"}, "action": "ResumeJob", "target": {"apiVersion": "batch.volcano.sh/v1alpha1",
    "kind": "Job", "name": "j"}})");
  settle();
  if (pod("j-t-0") != nullptr) world.erase(resources::kPods, "ns/j-t-0");
  admit();
  ASSERT_NE(pod("j-t-0"), nullptr);
  EXPECT_EQ(job()["status"]["retryCount"].as_int(), 0);
  EXPECT_EQ(job()["status"]["failed"].as_int(), 0);
  EXPECT_EQ(phase(), "Pending");
}

}  // namespace
}  // namespace controllers::job
