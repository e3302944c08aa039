// Tasks that wait for others (dependsOn), and the gang that they are part of.
#include <gtest/gtest.h>

#include "base/format.h"
#include "controllers/framework/world_for_tests.h"
#include "controllers/job/controller.h"

namespace controllers::job {
namespace {

using api::Json;
namespace resources = api::resources;

class DependsOnTest : public ::testing::Test {
 protected:
  DependsOnTest() {
    world.use_indexes_of(*controller);
    world.put_text(resources::kQueues, R"({"kind": "Queue", "metadata": {"name": "q"}, "status": {"state": "Open"}})");
  }
  // A job "j" in "ns" with this spec (without queue, scheduler and maxRetry).
  void put_job(std::string_view spec) {
    Json full = *api::parse_json(spec);
    full.set("queue", "q");
    full.set("schedulerName", "volcano");
    full.set("maxRetry", 3);
    world.put(resources::kJobs,
              Json::object({{"apiVersion", "batch.volcano.sh/v1alpha1"},
                            {"kind", "Job"},
                            {"metadata", Json::object({{"name", "j"}, {"namespace", "ns"}, {"uid", "U"}})},
                            {"spec", std::move(full)}}));
  }
  void turn() {
    world.now = world.now + base::seconds(1);
    world.turn(*controller, "ns/j");
  }
  void settle() {
    for (int round = 0; round < 8; ++round) turn();
  }
  void admit() {
    settle();
    world.edit(resources::kPodGroups, "ns/j-U")->edit("status").set("phase", "Inqueue");
    settle();
  }
  void set_pod(const std::string& name, std::string_view phase) {
    world.edit(resources::kPods, "ns/" + name)->edit("status").set("phase", phase);
  }
  bool has_pod(const std::string& name) const { return world.find(resources::kPods, "ns/" + name) != nullptr; }
  const Json& job() const { return *world.find(resources::kJobs, "ns/j"); }
  std::string phase() const { return job()["status"]["state"]["phase"].str(); }

  TestWorld world;
  std::unique_ptr<Controller> controller = make_job_controller({});
};

constexpr std::string_view kPod = R"({"spec": {"containers": [{"name": "c", "image": "i"}]}})";

std::string task(std::string_view name, int replicas, std::string_view more = "") {
  return base::format(R"({{"name": "{0}", "replicas": {1}, "minAvailable": {1}, "maxRetry": 3, "template": {2}{3}}})",
                      name, replicas, kPod, more);
}

TEST_F(DependsOnTest, a_task_waits_for_those_it_depends_on) {
  put_job(base::format(R"({{"minAvailable": 1, "tasks": [{}, {}, {}]}})", task("a", 1),
                       task("b", 1, R"(, "dependsOn": {"name": ["a"]})"),
                       task("c", 1, R"(, "dependsOn": {"name": ["a", "b"], "iteration": "any"})")));
  admit();
  EXPECT_TRUE(has_pod("j-a-0"));
  EXPECT_FALSE(has_pod("j-b-0"));
  world.edit(resources::kPods, "ns/j-a-0")
      ->set("status", *api::parse_json(R"({"phase": "Running", "containerStatuses": [{"ready": false}]})"));
  settle();
  EXPECT_FALSE(has_pod("j-b-0"));
  world.edit(resources::kPods, "ns/j-a-0")
      ->set("status", *api::parse_json(R"({"phase": "Running", "containerStatuses": [{"ready": true}]})"));
  settle();
  EXPECT_TRUE(has_pod("j-b-0"));
  EXPECT_TRUE(has_pod("j-c-0"));
}

// The default of spec.minAvailable counts all tasks.
TEST_F(DependsOnTest, the_group_grows_with_the_tasks_that_others_hold_back) {
  put_job(base::format(R"({{"minAvailable": 4, "tasks": [{}, {}]}})", task("a", 3),
                       task("b", 1, R"(, "dependsOn": {"name": ["a"]})")));
  admit();
  const auto group = [this](std::string_view field) {
    return (*world.find(resources::kPodGroups, "ns/j-U"))["spec"][field];
  };
  EXPECT_EQ(group("minMember").as_int(), 3);
  EXPECT_EQ(group("minTaskMember").dump(), R"({"a":3})");
  EXPECT_EQ(group("minResources")["pods"].as_string(), "3");
  EXPECT_EQ(phase(), "Pending");
  EXPECT_EQ(job()["status"]["state"]["message"].as_string(),
            "task b waits for task a (dependsOn): 0 of 3 pods are ready");
  for (const char* name : {"j-a-0", "j-a-1", "j-a-2"}) set_pod(name, "Running");
  settle();
  EXPECT_TRUE(has_pod("j-b-0"));
  EXPECT_EQ(group("minMember").as_int(), 4);
  EXPECT_EQ(group("minTaskMember").dump(), R"({"a":3,"b":1})");
  EXPECT_EQ(job()["status"]["state"]["message"].as_string(), "");
  set_pod("j-a-0", "Pending");  // what has begun stays in the group
  settle();
  EXPECT_EQ(group("minMember").as_int(), 4);
  set_pod("j-a-0", "Running");
  set_pod("j-b-0", "Running");
  settle();
  EXPECT_EQ(phase(), "Running");
}

TEST_F(DependsOnTest, a_group_asks_for_no_more_than_the_free_tasks_need) {
  const struct {
    int min_available, replicas_a, min_a, min_b, expected;
  } rows[] = {{3, 2, 2, 1, 2}, {2, 2, 2, 1, 2}, {1, 2, 1, 1, 1}, {4, 5, 2, 2, 2}, {6, 5, 2, 2, 4}, {7, 5, 5, 2, 5}};
  for (const auto& row : rows) {
    world.objects[resources::kPodGroups].clear();
    put_job(base::format(
        R"({{"minAvailable": {}, "tasks": [{{"name": "a", "replicas": {}, "minAvailable": {}, "template": {}}},
            {{"name": "b", "replicas": 2, "minAvailable": {}, "dependsOn": {{"name": ["a"]}}, "template": {}}}]}})",
        row.min_available, row.replicas_a, row.min_a, kPod, row.min_b, kPod));
    turn();
    EXPECT_EQ((*world.find(resources::kPodGroups, "ns/j-U"))["spec"]["minMember"].as_int(), row.expected);
  }
}

}  // namespace
}  // namespace controllers::job
