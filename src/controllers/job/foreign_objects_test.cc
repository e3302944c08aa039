// Objects that have a name that a job would use, and are not the job's.
#include <gtest/gtest.h>

#include "base/format.h"
#include "controllers/framework/world_for_tests.h"
#include "controllers/job/controller.h"

namespace controllers::job {
namespace {

using api::Json;
namespace resources = api::resources;

class StrangersTest : public ::testing::Test {
 protected:
  StrangersTest() : controller(make_job_controller({})) {
    world.use_indexes_of(*controller);
    world.put_text(resources::kQueues, R"({"kind": "Queue", "metadata": {"name": "q"}, "status": {"state": "Open"}})");
  }
  void put_job() {
    world.put_text(resources::kJobs, R"({"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job",
      "metadata": {"name": "j", "namespace": "ns", "uid": "U"},
      "spec": {"queue": "q", "schedulerName": "volcano", "maxRetry": 3, "minAvailable": 1,
        "plugins": {"svc": [], "ssh": []}, "tasks": [{"name": "t", "replicas": 1, "minAvailable": 1,
          "template": {"spec": {"containers": [{"name": "c", "image": "i"}]}}}]}})");
  }
  // An object of ns, controlled by the Job "j" of this uid; no uid: by nobody.
  void put(const api::ResourceId& resource, std::string_view kind, std::string_view name, std::string_view owner = "") {
    world.put_text(
        resource,
        base::format(R"({{"kind": "{}", "metadata": {{"name": "{}", "namespace": "ns"{}}}, "data": {{"a": "b"}}}})",
                     kind, name,
                     owner.empty() ? std::string()
                                   : base::format(R"(, "ownerReferences": [{{"apiVersion": "batch.volcano.sh/v1alpha1",
                                       "kind": "Job", "name": "j", "uid": "{}", "controller": true}}])",
                                                  owner)));
  }
  std::string settle() {
    std::string all;
    for (int round = 0; round < 8; ++round) {
      world.now = world.now + base::seconds(1);
      all += world.turn(*controller, "ns/j");
    }
    return all;
  }
  void abort() {
    world.put_text(resources::kCommands, R"({"kind": "Command", "metadata": {"name": "c", "namespace": "ns"},
      "action": "AbortJob", "target": {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "name": "j"}})");
    settle();
  }

  TestWorld world;
  std::unique_ptr<Controller> controller;
};

TEST_F(StrangersTest, keep_their_objects_when_the_job_ends) {
  const std::tuple<api::ResourceId, std::string_view, std::string_view> rows[] = {
      {resources::kServices, "Service", "j"},
      {resources::kConfigMaps, "ConfigMap", "j-svc"},
      {resources::kNetworkPolicies, "NetworkPolicy", "j"},
      {resources::kSecrets, "Secret", "j-ssh"}};
  for (const bool is_taken : {true, false}) {
    world.objects.clear();
    world.put_text(resources::kQueues, R"({"kind": "Queue", "metadata": {"name": "q"}, "status": {"state": "Open"}})");
    controller = make_job_controller({});
    put_job();
    settle();
    for (const auto& [resource, kind, name] : rows) {
      ASSERT_NE(world.find(resource, base::format("ns/{}", name)), nullptr) << kind;
      if (is_taken) put(resource, kind, name);  // made anew by somebody else
    }
    abort();
    for (const auto& [resource, kind, name] : rows)
      EXPECT_EQ(world.find(resource, base::format("ns/{}", name)) != nullptr, is_taken) << kind;
    EXPECT_EQ((*world.find(resources::kJobs, "ns/j"))["status"]["controlledResources"].size(), 0u);
  }
}

// A job that was replaced: the old one's policy is about to be collected, and the new one needs its own.
TEST_F(StrangersTest, the_policy_of_an_earlier_job_of_the_name_is_waited_for) {
  put(resources::kNetworkPolicies, "NetworkPolicy", "j", "OLD");
  put_job();
  settle();
  EXPECT_FALSE((*world.find(resources::kJobs, "ns/j"))["status"]["controlledResources"].has("plugin-svc"));
  world.erase(resources::kNetworkPolicies, "ns/j");
  settle();
  ASSERT_NE(world.find(resources::kNetworkPolicies, "ns/j"), nullptr);
  EXPECT_EQ(api::controller_of(*world.find(resources::kNetworkPolicies, "ns/j"))["uid"].as_string(), "U");
  EXPECT_TRUE((*world.find(resources::kJobs, "ns/j"))["status"]["controlledResources"].has("plugin-svc"));
}

// Releases before 1.5 named groups like their jobs.
TEST_F(StrangersTest, a_group_of_the_name_is_the_jobs_only_if_it_says_so) {
  for (const std::string_view owner : {"U", "", "OTHER"}) {
    world.objects.clear();
    world.put_text(resources::kQueues, R"({"kind": "Queue", "metadata": {"name": "q"}, "status": {"state": "Open"}})");
    controller = make_job_controller({});
    put(resources::kPodGroups, "PodGroup", "j", owner);
    const Json before = *world.find(resources::kPodGroups, "ns/j");
    put_job();
    settle();
    EXPECT_EQ(world.find(resources::kPodGroups, "ns/j-U") != nullptr, owner != "U") << owner;
    abort();
    ASSERT_EQ(world.find(resources::kPodGroups, "ns/j") != nullptr, owner != "U") << owner;
    if (owner != "U") {
      EXPECT_EQ(*world.find(resources::kPodGroups, "ns/j"), before);
    }
  }
}

}  // namespace
}  // namespace controllers::job
