// The message of a Job's end (COMPAT state-message).
#include "controllers/job/ending.h"

#include <gtest/gtest.h>

#include "base/format.h"
#include "controllers/framework/world_for_tests.h"
#include "controllers/job/controller.h"

namespace controllers::job {
namespace {

using api::Json;
namespace resources = api::resources;

Json parsed(std::string_view text) {
  auto json = api::parse_json(text);
  EXPECT_TRUE(json.ok()) << text;
  return json.ok() ? *json : Json();
}

TEST(Ending, of_a_pod_is_told_by_who_ended_it) {
  struct Row {
    std::string_view status;
    std::string_view warned;
  };
  const Row rows[] = {
      {R"({"reason": "Evicted", "containerStatuses": [{"state": {"terminated": {"exitCode": 137}}}]})", "Evicted"},
      {R"({"containerStatuses": [{"state": {"terminated": {"exitCode": 0}}},
                                 {"state": {"terminated": {"exitCode": 3, "reason": "Error"}}}]})",
       "exit code 3"},
      {R"({"containerStatuses": [{"state": {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}}]})",
       "OOMKilled, exit code 137"},
      {R"({"initContainerStatuses": [{"state": {"terminated": {"exitCode": 1}}}],
           "containerStatuses": [{"state": {"waiting": {"reason": "PodInitializing"}}}]})",
       "exit code 1"},
      {R"({})", "it does not say why"},
      {R"({"reason": 7, "containerStatuses": "none"})", "it does not say why"},
  };
  for (const Row& row : rows) {
    Json pod = Json::object({{"metadata", Json::object({{"name", "j-a-0"}})}});
    pod.set("status", parsed(row.status));
    EXPECT_EQ(why_acted({.event = "PodFailed", .action = "AbortJob", .pod = "j-a-0"}, {&pod}),
              base::format("AbortJob: pod j-a-0 failed: {}", row.warned));
  }
}

TEST(Ending, names_what_an_action_answers) {
  struct Row {
    Request request;
    std::string_view warned;
  };
  const Row rows[] = {
      {{.event = "PodFailed", .action = "RestartJob", .pod = "j-a-0"}, "RestartJob: pod j-a-0 failed: it is gone"},
      {{.event = "PodEvicted", .action = "RestartTask", .pod = "j-a-0"},
       "RestartTask: pod j-a-0 was evicted or deleted"},
      {{.action = "AbortJob", .cause = "PodPending", .pod = "j-a-0"}, "AbortJob: pod j-a-0 was pending for too long"},
      {{.event = "TaskCompleted", .action = "CompleteJob", .task = "a"}, "CompleteJob: task a completed"},
      {{.event = "TaskFailed", .action = "TerminateJob", .task = "a"},
       "TerminateJob: pods of task a restarted too often"},
      {{.event = "CommandIssued", .action = "ResumeJob", .from_command = true}, "ResumeJob: a command"},
      {{.action = "TerminateJob"}, "TerminateJob: the controller could not carry out its last action"},
  };
  for (const Row& row : rows) EXPECT_EQ(why_acted(row.request, {}), row.warned);
}

class EndingTest : public ::testing::Test {
 protected:
  EndingTest() : controller(make_job_controller({})) {
    world.use_indexes_of(*controller);
    world.put_text(resources::kQueues, R"({"kind": "Queue", "metadata": {"name": "q"}, "status": {"state": "Open"}})");
  }
  // Job "j" with this text in its spec and one task "a" of two pods, admitted.
  void start(std::string_view spec) {
    world.put_text(resources::kJobs, base::format(R"({{"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job",
        "metadata": {{"name": "j", "namespace": "ns", "uid": "U"}},
        "spec": {{"queue": "q", "schedulerName": "volcano", "minAvailable": 2, {}, "tasks": [{{"name": "a",
          "replicas": 2, "template": {{"spec": {{"containers": [{{"name": "c", "image": "i"}}]}}}}}}]}}}})",
                                                  spec));
    settle();
    admit();
  }
  void admit() {
    world.edit(resources::kPodGroups, "ns/j-U")->edit("status").set("phase", "Inqueue");
    settle();
    for (const char* pod : {"ns/j-a-0", "ns/j-a-1"})
      world.edit(resources::kPods, pod)->set("status", parsed(R"({"phase": "Running"})"));
    settle();
  }
  void settle() {
    for (int round = 0; round < 8; ++round) {
      world.now = world.now + base::seconds(1);
      world.turn(*controller, "ns/j");
      world.gone();
    }
  }
  void fail(const std::string& pod, int code) {
    world.edit(resources::kPods, "ns/" + pod)
        ->set("status", parsed(base::format(R"({{"phase": "Failed", "containerStatuses": [{{"state": {{"terminated":
            {{"exitCode": {}, "finishedAt": "2026-01-01T00:00:0{}Z"}}}}}}]}})",
                                            code, code)));
    settle();
  }
  std::string warned() const {
    const Json& state = (*world.find(resources::kJobs, "ns/j"))["status"]["state"];
    return base::format("{}: {}", state["phase"].as_string(), state["message"].as_string());
  }

  TestWorld world;
  std::unique_ptr<Controller> controller;
};

TEST_F(EndingTest, a_job_whose_pods_fail_names_the_first) {
  start(R"("maxRetry": 3)");
  EXPECT_EQ(warned(), "Running: ");
  fail("j-a-1", 2);
  fail("j-a-0", 5);
  EXPECT_EQ(warned(), "Failed: 2 of 2 pods failed; first j-a-1: exit code 2");
}

TEST_F(EndingTest, an_aborted_job_keeps_its_cause_until_it_goes_on) {
  start(R"("maxRetry": 3, "policies": [{"event": "PodFailed", "action": "AbortJob"}])");
  fail("j-a-0", 7);
  EXPECT_EQ(warned(), "Aborted: AbortJob: pod j-a-0 failed: exit code 7");
}

TEST_F(EndingTest, the_last_attempt_is_said) {
  start(R"("maxRetry": 1, "policies": [{"event": "PodFailed", "action": "RestartJob"}])");
  fail("j-a-0", 7);
  EXPECT_EQ(warned(), "Failed: RestartJob: pod j-a-0 failed: exit code 7; no attempt of 1 is left");
}

TEST_F(EndingTest, a_job_that_was_restarted_runs_without_a_word) {
  start(R"("maxRetry": 3, "policies": [{"event": "PodFailed", "action": "RestartJob"}])");
  fail("j-a-0", 7);
  EXPECT_EQ(warned(), "Pending: ");
  admit();
  EXPECT_EQ(warned(), "Running: ");
}

}  // namespace
}  // namespace controllers::job
