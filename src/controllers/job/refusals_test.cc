// The server refuses a write about one pod or task: what becomes of the others?
#include <gtest/gtest.h>

#include "base/format.h"
#include "controllers/framework/world_for_tests.h"
#include "controllers/job/controller.h"

namespace controllers::job {
namespace {

namespace resources = api::resources;

class RefusalsTest : public ::testing::Test {
 protected:
  RefusalsTest() { world.use_indexes_of(*controller); }
  // A job "j" of tasks "a" and "b" that may have its pods.
  void put_job(int replicas_a, int replicas_b) {
    world.put_text(resources::kQueues, R"({"kind": "Queue", "metadata": {"name": "q"}, "status": {"state": "Open"}})");
    std::string tasks;
    for (const auto& [name, replicas] : {std::pair{"a", replicas_a}, std::pair{"b", replicas_b}})
      tasks += base::format(R"({0}{{"name": "{1}", "replicas": {2}, "minAvailable": 1, "maxRetry": 3,
          "template": {{"spec": {{"containers": [{{"name": "c", "image": "i"}}]}}}}}})",
                            tasks.empty() ? "" : ", ", name, replicas);
    world.put_text(resources::kJobs, base::format(R"({{"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job",
      "metadata": {{"name": "j", "namespace": "ns", "uid": "U"}}, "spec": {{"queue": "q", "schedulerName": "volcano",
        "maxRetry": 3, "minAvailable": 1, "policies": [{{"event": "PodFailed", "action": "RestartJob"}}],
        "tasks": [{}]}}}})",
                                                  tasks));
    for (int round = 0; round < 3; ++round) turn();
    world.edit(resources::kPodGroups, "ns/j-U")->edit("status").set("phase", "Inqueue");
  }
  void turn(int failures = 0) {
    world.now = world.now + base::seconds(1);
    world.turn(*controller, "ns/j", failures);
  }
  void refuse(Action::Verb verb, std::string prefix) {
    world.refuse = [verb, prefix](const Action& action) -> std::optional<base::Error> {
      if (action.verb != verb || action.kind != "Pod" || !action.name.starts_with(prefix)) return std::nullopt;
      return base::make_error(base::Code::kForbidden, "no");
    };
  }
  std::string pods(bool going) const {
    std::string names;
    for (const api::Json* pod : world.all(resources::kPods))
      if (api::is_deleting(*pod) == going) names += (names.empty() ? "" : " ") + std::string(api::name_of(*pod));
    return names;
  }
  std::string phase() const { return (*world.find(resources::kJobs, "ns/j"))["status"]["state"]["phase"].str(); }

  TestWorld world;
  std::unique_ptr<Controller> controller = make_job_controller({});
};

TEST_F(RefusalsTest, a_victim_that_cannot_be_marked_or_deleted_keeps_no_other_alive) {
  for (const auto verb : {Action::Verb::kPatch, Action::Verb::kDelete}) {
    world.objects.clear();
    world.events.clear();
    controller = make_job_controller({});
    put_job(3, 1);
    for (int round = 0; round < 3; ++round) turn();
    for (auto& [key, pod] : world.objects[resources::kPods]) pod.edit("status").set("phase", "Running");
    for (int round = 0; round < 3; ++round) turn();
    ASSERT_EQ(phase(), "Running");
    world.edit(resources::kPods, "ns/j-b-0")->edit("status").set("phase", "Failed");
    refuse(verb, "j-a-1");
    turn();
    EXPECT_EQ(pods(false), "j-a-1");
    EXPECT_EQ(world.events.back(), "FailedDelete: Error deleting pods: [no]");
    EXPECT_EQ(phase(), "Running");  // nothing of the restart counts before all are going
    EXPECT_NE(world.find(resources::kPodGroups, "ns/j-U"), nullptr);
    world.refuse = {};
    turn(1);
    EXPECT_EQ(pods(false), "");
    EXPECT_EQ(phase(), "Restarting");
  }
}

TEST_F(RefusalsTest, a_task_over_its_quota_keeps_no_other_from_being_made) {
  put_job(2, 2);
  refuse(Action::Verb::kCreate, "j-a-");
  turn();
  EXPECT_EQ(pods(false), "j-b-0 j-b-1");
  EXPECT_EQ(world.events.back(), "FailedCreate: Error creating pods: [no]");
  world.refuse = {};
  turn(1);
  EXPECT_EQ(pods(false), "j-a-0 j-a-1 j-b-0 j-b-1");
}

TEST_F(RefusalsTest, what_is_too_many_goes_although_something_else_is_refused) {
  for (const auto verb : {Action::Verb::kCreate, Action::Verb::kDelete}) {
    world.objects.clear();
    controller = make_job_controller({});
    put_job(1, 3);
    for (int round = 0; round < 3; ++round) turn();
    ASSERT_EQ(pods(false), "j-a-0 j-b-0 j-b-1 j-b-2");
    api::Json& tasks = world.edit(resources::kJobs, "ns/j")->edit("spec").edit("tasks");
    tasks.edit(0).set("replicas", 2);
    tasks.edit(1).set("replicas", 1);
    refuse(verb, verb == Action::Verb::kCreate ? "j-a-" : "j-b-1");
    turn();
    EXPECT_EQ(pods(false), verb == Action::Verb::kCreate ? "j-a-0 j-b-0" : "j-a-0 j-a-1 j-b-0 j-b-1");
    world.refuse = {};
    turn(1);
    EXPECT_EQ(pods(false), "j-a-0 j-a-1 j-b-0");
  }
}

TEST_F(RefusalsTest, a_task_that_fills_a_plan_leaves_the_next_one_to_others) {
  put_job(2'500, 2);
  refuse(Action::Verb::kCreate, "j-a-");
  turn();
  turn(1);
  EXPECT_EQ(pods(false), "j-b-0 j-b-1");
}

}  // namespace
}  // namespace controllers::job
