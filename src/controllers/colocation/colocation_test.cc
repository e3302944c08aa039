// Which configuration a pod gets, and when it is taken away (controllers.md 14).
#include <gtest/gtest.h>

#include "base/format.h"
#include "controllers/colocation/controller.h"
#include "controllers/framework/world_for_tests.h"

namespace controllers::colocation {
namespace {

using api::Json;
namespace resources = api::resources;

class ColocationTest : public ::testing::Test {
 protected:
  ColocationTest() : controller(make_colocation_controller()) {
    world.use_indexes_of(*controller);
    world.put_text(resources::kPods,
                   R"({"kind": "Pod", "metadata": {"name": "p", "namespace": "ns", "labels": {"a": "b"}}})");
  }
  void put(std::string_view name, int day, std::string_view spec, std::string_view ns = "ns") {
    world.put_text(resources::kColocationConfigurations,
                   base::format(R"({{"kind": "ColocationConfiguration", "metadata": {{"name": "{}", "namespace": "{}",
                     "creationTimestamp": "2026-01-0{}T00:00:00Z"}}, "spec": {}}})",
                                name, ns, day, spec));
  }
  std::string marks() {
    world.turn(*controller, "ns/p");
    EXPECT_EQ(world.turn(*controller, "ns/p"), "");
    const Json& annotations = (*world.find(resources::kPods, "ns/p"))["metadata"]["annotations"];
    return annotations["volcano.sh/colocation-config-name"].str() + " " +
           annotations["volcano.sh/colocation-config"].str();
  }
  TestWorld world;
  std::unique_ptr<Controller> controller;
};

TEST_F(ColocationTest, the_newest_that_selects_the_pod_counts) {
  EXPECT_EQ(marks(), " ");
  put("none", 9, R"({"memoryQos": {"highRatio": 1}})");
  put("elsewhere", 9, R"({"selector": {}, "memoryQos": {"highRatio": 2}})", "other");
  put("wrong", 9, R"({"selector": {"matchExpressions": [{"key": "a", "operator": "Nonsense"}]}})");
  EXPECT_EQ(marks(), " ");
  put("all", 1, R"({"selector": {}, "memoryQos": {"highRatio": 100, "lowRatio": 0, "minRatio": 5}})");
  EXPECT_EQ(marks(), R"(all {"memoryQos":{"highRatio":100,"minRatio":5}})");
  put("some", 2, R"({"selector": {"matchLabels": {"a": "b"}}})");
  EXPECT_EQ(marks(), "some {}");
  world.edit(resources::kPods, "ns/p")->edit_path({"metadata", "labels"}).set("a", "c");
  EXPECT_EQ(marks(), R"(all {"memoryQos":{"highRatio":100,"minRatio":5}})");
  world.erase(resources::kColocationConfigurations, "ns/all");
  EXPECT_EQ(marks(), " {}");  // the agent undoes what it set
}

TEST_F(ColocationTest, what_wakes_a_pod) {
  const std::vector<Wake> wakes = controller->wakes_on();
  const Json pod = *world.find(resources::kPods, "ns/p");
  EXPECT_EQ(wakes[0].keys(world, pod), Keys{});
  put("all", 1, R"({"selector": {}})");
  const Json configuration = *world.find(resources::kColocationConfigurations, "ns/all");
  EXPECT_EQ(wakes[0].keys(world, pod), Keys{"ns/p"});
  EXPECT_EQ(wakes[1].keys(world, configuration), Keys{"ns/p"});
  Json other = pod;
  other.edit("metadata").edit("labels").set("a", "c");
  EXPECT_TRUE(wakes[0].matters(&pod, &other));
  EXPECT_FALSE(wakes[0].matters(&pod, &pod));
  other = configuration;
  other.set("status", Json::object({{"x", 1}}));
  EXPECT_FALSE(wakes[1].matters(&configuration, &other));
}

}  // namespace
}  // namespace controllers::colocation
