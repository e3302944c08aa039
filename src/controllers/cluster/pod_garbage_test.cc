// Pods that no node lets go.
#include <gtest/gtest.h>

#include "base/format.h"
#include "controllers/cluster/evictions.h"
#include "controllers/framework/world_for_tests.h"

namespace controllers::cluster {
namespace {

using api::Json;
namespace resources = api::resources;

struct Stage {
  Stage() { world.use_indexes_of(*controller); }
  std::string turn() { return world.turn(*controller, "ns/p"); }
  void pod(std::string_view metadata, std::string_view spec, std::string_view phase) {
    world.put_text(resources::kPods, base::format(R"({{"kind": "Pod", "metadata": {{"name": "p", "namespace": "ns",
      "uid": "P"{}}}, "spec": {{{}}}, "status": {{"phase": "{}"}}}})",
                                                  metadata, spec, phase));
  }
  void node() { world.put_text(resources::kNodes, R"({"kind": "Node", "metadata": {"name": "n"}})"); }
  void pass(std::int64_t seconds) { world.now = world.now + base::seconds(seconds); }
  Plan step() {
    Plan plan = controller->step(world, "ns/p", {.now = world.now});
    controller->finished("ns/p", {.succeeded = true});
    return plan;
  }
  TestWorld world;
  std::unique_ptr<Controller> controller = make_pod_garbage_collector();
};

constexpr std::string_view kOnN = R"("nodeName": "n")";

TEST(PodGarbage, a_pod_of_no_node_goes_after_a_quarantine) {
  Stage stage;
  stage.pod("", kOnN, "Running");
  EXPECT_EQ(stage.turn(), "");
  stage.pass(39);
  EXPECT_EQ(stage.step().look_again(), base::seconds(1));
  stage.pass(1);
  const Plan plan = stage.step();
  const std::string text = plan.text();
  EXPECT_TRUE(text.starts_with("require-gone Node n\n--\npatch Pod ns/p {\"metadata\":{\"uid\":\"P\"},\"status\":"))
      << text;
  EXPECT_TRUE(text.ends_with("--\ndelete Pod ns/p\n")) << text;
  EXPECT_EQ(plan.stages().back().actions.front().body["gracePeriodSeconds"].dump(), "0");
  const Json& status = plan.stages()[1].actions.front().body["status"];
  EXPECT_EQ(status["phase"].as_string(), "Failed");
  EXPECT_EQ(status["conditions"][std::size_t{0}]["type"].as_string(), "DisruptionTarget");
  EXPECT_EQ(status["conditions"][std::size_t{0}]["reason"].as_string(), "DeletionByPodGC");
  EXPECT_EQ(status["conditions"][std::size_t{0}]["message"].as_string(), "PodGC: node no longer exists");
  stage.turn();
  EXPECT_EQ(stage.world.find(resources::kPods, "ns/p"), nullptr);
}

TEST(PodGarbage, a_node_that_only_this_view_misses_saves_its_pods) {
  Stage stage;
  stage.pod("", kOnN, "Running");
  stage.turn();
  stage.pass(40);
  const Plan plan = stage.step();
  stage.node();
  EXPECT_FALSE(stage.world.apply(plan).succeeded);
  EXPECT_EQ((*stage.world.find(resources::kPods, "ns/p"))["status"]["phase"].as_string(), "Running");
  EXPECT_EQ(stage.turn(), "");
  stage.world.erase(resources::kNodes, "n");
  EXPECT_EQ(stage.step().look_again(), base::seconds(40)) << "a node that goes again is missed anew";
}

TEST(PodGarbage, takes_what_is_over_and_what_is_being_deleted_as_well) {
  struct Row {
    const char* what;
    const char* metadata;
    std::string_view spec;
    const char* phase;
    const char* text;  // what it begins with, when its time has come
  };
  constexpr const char* kDeleting =
      R"(, "deletionTimestamp": "2026-01-01T00:00:00Z", "deletionGracePeriodSeconds": 30)";
  constexpr const char* kKept =
      R"(, "deletionTimestamp": "2026-01-01T00:00:00Z", "deletionGracePeriodSeconds": 0, "finalizers": ["x.io/y"])";
  for (const Row& row :
       {Row{"over, and its node is gone", "", kOnN, "Succeeded", "require-gone Node n\n--\ndelete Pod ns/p\n"},
        Row{"ending, and its node is gone", kDeleting, kOnN, "Running", "require-gone Node n\n--\npatch Pod ns/p"},
        Row{"kept by a finalizer", kKept, kOnN, "Failed", ""}, Row{"waiting for a node", "", "", "Pending", ""},
        Row{"ending without a node", kKept, "", "Pending",
            R"(patch Pod ns/p {"metadata":{"uid":"P"},"status":{"phase":"Failed"}})"},
        Row{"failed, and kept by a finalizer", kKept, "", "Failed", ""}}) {
    Stage stage;
    stage.pod(row.metadata, row.spec, row.phase);
    stage.step();
    stage.pass(40);
    const std::string text = stage.step().text();
    EXPECT_TRUE(text.starts_with(row.text) && text.empty() == (*row.text == 0)) << row.what << ": " << text;
  }
}

// A Job that deletes its pods takes its finalizer from them itself.
TEST(PodGarbage, who_ends_without_a_node_has_some_time) {
  Stage stage;
  stage.pod(base::format(R"(, "deletionTimestamp": "{}", "deletionGracePeriodSeconds": 0, "finalizers": ["x.io/y"])",
                         base::format_rfc3339(stage.world.now)),
            "", "Pending");
  const Plan plan = stage.step();
  EXPECT_TRUE(writes_nothing(plan));
  EXPECT_EQ(plan.look_again(), base::seconds(20));
}

TEST(PodGarbage, wakes_for_pods_whose_node_goes_and_for_few_others) {
  Stage stage;
  stage.pod("", kOnN, "Running");
  const std::vector<Wake> wakes = stage.controller->wakes_on();
  const auto of_pod = [&] { return wakes[0].keys(stage.world, *stage.world.find(resources::kPods, "ns/p")); };
  EXPECT_EQ(of_pod(), Keys{"ns/p"});
  stage.node();
  const Json node = *stage.world.find(resources::kNodes, "n");
  const auto of_node = [&] { return wakes[1].keys(stage.world, node); };
  EXPECT_EQ(of_pod(), Keys{});
  EXPECT_EQ(of_node(), Keys{}) << "its pods have missed nothing";
  EXPECT_FALSE(wakes[1].matters(&node, &node));
  stage.world.erase(resources::kNodes, "n");
  EXPECT_EQ(of_node(), Keys{"ns/p"});
  stage.turn();
  stage.node();
  EXPECT_EQ(of_node(), Keys{"ns/p"}) << "it was missed, and is there again";
  EXPECT_EQ(of_pod(), Keys{"ns/p"});
}

class FinishedPods : public ::testing::Test {
 protected:
  FinishedPods() { world.use_indexes_of(*controller); }
  void put(std::string_view ns, std::string_view name, int age_minutes, std::string_view phase = "Succeeded",
           std::string_view owner = "") {
    world.put_text(resources::kPods,
                   base::format(R"({{"kind": "Pod", "metadata": {{"name": "{}", "namespace": "{}",
      "creationTimestamp": "{}"{}}}, "spec": {{"nodeName": "n"}}, "status": {{"phase": "{}"}}}})",
                                name, ns, base::format_rfc3339(world.now - base::minutes(age_minutes)), owner, phase));
  }
  std::string left() const {
    std::string names;
    for (const Json* pod : world.all(resources::kPods)) names += std::string(api::name_of(*pod)) + " ";
    return names;
  }
  TestWorld world;
  std::unique_ptr<Controller> controller = make_pod_garbage_collector({.everywhere = 4, .in_namespace = 2});
};

TEST_F(FinishedPods, the_oldest_of_a_namespace_go_and_then_those_of_all) {
  for (const char* ns : {"a", "b", "c"})
    for (const int age : {50, 40, 30}) put(ns, base::format("{}{}", ns, age), age);
  put("a", "a-runs", 90, "Running");
  for (const char* key : {"a", "b", "c"}) world.turn(*controller, key);
  EXPECT_EQ(left(), "a-runs a30 a40 b30 b40 c30 c40 ");
  world.turn(*controller, "*");
  EXPECT_EQ(left(), "a-runs a30 b30 c30 c40 ");
  world.turn(*controller, "*");
  EXPECT_EQ(left(), "a-runs a30 b30 c30 c40 ");
}

TEST_F(FinishedPods, those_stay_that_an_owner_would_make_again_or_has_had_no_time_to_count) {
  constexpr std::string_view kOwner = R"(, "ownerReferences": [{"apiVersion": "batch.volcano.sh/v1alpha1",
      "kind": "Job", "name": "j", "uid": "U", "controller": true}])";
  const auto put_job = [this](std::string_view phase) {
    world.put_text(resources::kJobs, base::format(R"({{"kind": "Job", "metadata": {{"name": "j", "namespace": "a",
      "uid": "U"}}, "status": {{"state": {{"phase": "{}"}}}}}})",
                                                  phase));
  };
  put_job("Running");
  for (const int age : {50, 40, 30}) put("a", base::format("{}", age), age, "Succeeded", kOwner);
  put("a", "new", 0);
  world.turn(*controller, "a");
  EXPECT_EQ(left(), "30 40 50 new ");
  put_job("Completed");
  world.turn(*controller, "a");
  EXPECT_EQ(left(), "30 new ");
}

}  // namespace
}  // namespace controllers::cluster
