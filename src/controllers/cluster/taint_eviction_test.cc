// Pods that leave a tainted node: at once, in time, or not.
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
  void taint(std::string_view taints) {
    world.put_text(resources::kNodes, base::format(R"({{"kind": "Node", "metadata": {{"name": "n"}},
      "spec": {{"taints": [{}]}}}})",
                                                   taints));
  }
  void pod(std::string_view tolerations) {
    world.put_text(resources::kPods, base::format(R"({{"kind": "Pod", "metadata": {{"name": "p", "namespace": "ns",
      "uid": "P"}}, "spec": {{"nodeName": "n", "tolerations": [{}]}}, "status": {{"phase": "Running"}}}})",
                                                  tolerations));
  }
  void pass(std::int64_t seconds) { world.now = world.now + base::seconds(seconds); }
  // How long the pod has; -1: for ever.
  double left() {
    const Plan plan = controller->step(world, "ns/p", {.now = world.now});
    controller->finished("ns/p", {.succeeded = true});
    if (!writes_nothing(plan)) return 0;
    return plan.look_again() ? plan.look_again()->seconds() : -1;
  }
  bool deleting() { return api::is_deleting(*world.find(resources::kPods, "ns/p")); }
  TestWorld world;
  std::unique_ptr<Controller> controller = make_taint_eviction_controller();
};

constexpr std::string_view kTaint = R"({"key": "k", "value": "v", "effect": "NoExecute"})";

TEST(TaintEviction, says_why_and_deletes) {
  Stage stage;
  stage.taint(kTaint);
  stage.pod("");
  const std::string text = stage.turn();
  EXPECT_TRUE(
      text.starts_with("event Pod ns/p Normal TaintManagerEviction: Marking for deletion Pod ns/p\n"
                       "patch Pod ns/p {\"metadata\":{\"uid\":\"P\"},\"status\":{\"conditions\":"))
      << text;
  EXPECT_TRUE(text.ends_with("--\ndelete Pod ns/p\n")) << text;
  const Json& condition = (*stage.world.find(resources::kPods, "ns/p"))["status"]["conditions"].items().front();
  EXPECT_EQ(condition["type"].as_string(), "DisruptionTarget");
  EXPECT_EQ(condition["reason"].as_string(), "DeletionByTaintManager");
  EXPECT_EQ(condition["message"].as_string(), "Taint manager: deleting due to NoExecute taint");
  EXPECT_EQ(stage.turn(), "") << "it is told once";
}

TEST(TaintEviction, waits_as_long_as_the_taints_are_tolerated) {
  struct Row {
    const char* what;
    std::string_view taints;
    const char* tolerations;
    double seconds;
  };
  constexpr std::string_view kTwo =
      R"({"key": "k", "value": "v", "effect": "NoExecute"}, {"key": "l", "effect": "NoExecute"})";
  for (
      const Row& row :
      {Row{"no taint", "", "", -1},
       Row{"one that only keeps pods away", R"({"key": "k", "effect": "NoSchedule"})", "", -1},
       Row{"not tolerated", kTaint, R"({"key": "k", "value": "w"})", 0},
       Row{"of another effect", kTaint, R"({"key": "k", "value": "v", "effect": "NoSchedule"})", 0},
       Row{"for ever", kTaint, R"({"key": "k", "operator": "Exists"})", -1},
       Row{"all taints", kTaint, R"({"operator": "Exists"})", -1},
       Row{"for a time", kTaint, R"({"key": "k", "value": "v", "effect": "NoExecute", "tolerationSeconds": 60})", 60},
       Row{"for none", kTaint, R"({"key": "k", "operator": "Exists", "tolerationSeconds": 0})", 0},
       Row{"for less", kTaint, R"({"key": "k", "operator": "Exists", "tolerationSeconds": -5})", 0},
       Row{"for longer than there are clocks", kTaint,
           R"({"key": "k", "operator": "Exists", "tolerationSeconds": 9223372036854775807})", 3600},
       Row{"the shortest of two taints", kTwo,
           R"({"key": "k", "operator": "Exists", "tolerationSeconds": 60}, {"key": "l", "operator": "Exists", "tolerationSeconds": 30})",
           30},
       Row{"one of two", kTwo, R"({"key": "k", "operator": "Exists", "tolerationSeconds": 60})", 0},
       Row{"the first that matches a taint", kTaint,
           R"({"key": "k", "operator": "Exists"}, {"operator": "Exists", "tolerationSeconds": 30})", -1}}) {
    Stage stage;
    stage.taint(row.taints);
    stage.pod(row.tolerations);
    EXPECT_EQ(stage.left(), row.seconds) << row.what;
  }
}

constexpr const char* kForAMinute = R"({"key": "k", "operator": "Exists", "tolerationSeconds": 60})";

TEST(TaintEviction, comes_in_time_or_is_cancelled) {
  Stage stage;
  stage.taint(kTaint);
  stage.pod(kForAMinute);
  EXPECT_EQ(stage.turn(), "");
  stage.pass(59);
  EXPECT_EQ(stage.left(), 1);
  stage.taint("");
  EXPECT_EQ(stage.turn(), "event Pod ns/p Normal TaintManagerEviction: Cancelling deletion of Pod ns/p\n");
  EXPECT_EQ(stage.turn(), "");
  stage.taint(kTaint);
  EXPECT_EQ(stage.left(), 60) << "a taint that comes again is a new one";
  stage.pass(60);
  stage.turn();
  EXPECT_TRUE(stage.deleting());
}

TEST(TaintEviction, a_second_taint_does_not_count_from_the_first) {
  Stage stage;
  stage.taint(kTaint);
  stage.pod(
      R"({"key": "k", "operator": "Exists", "tolerationSeconds": 100}, {"key": "l", "operator": "Exists", "tolerationSeconds": 30})");
  EXPECT_EQ(stage.left(), 100);
  stage.pass(50);
  stage.taint(R"({"key": "k", "value": "v", "effect": "NoExecute"}, {"key": "l", "effect": "NoExecute"})");
  EXPECT_EQ(stage.left(), 30);
}

// So a restart gives no pod its time again; and a pod that came later has its own.
TEST(TaintEviction, counts_from_when_the_taint_was_added) {
  Stage stage;
  stage.pod(kForAMinute);
  const std::string added = base::format_rfc3339(stage.world.now + base::seconds(10));
  stage.pass(30);
  stage.taint(base::format(R"({{"key": "k", "value": "v", "effect": "NoExecute", "timeAdded": "{}"}})", added));
  EXPECT_EQ(stage.left(), 40);
  stage.pass(20);
  stage.world.erase(resources::kPods, "ns/p");
  stage.pod(kForAMinute);
  EXPECT_EQ(stage.left(), 60);
}

// The pods that a change wakes, and no others.
TEST(TaintEviction, wakes_the_pods_of_the_node_whose_taints_changed) {
  Stage stage;
  stage.pod("");
  const std::vector<Wake> wakes = stage.controller->wakes_on();
  const auto keys = [&](std::size_t which, std::string_view resource, const std::string& key) {
    return wakes[which].keys(stage.world,
                             *stage.world.find(resource == "pods" ? resources::kPods : resources::kNodes, key));
  };
  stage.taint("");
  EXPECT_EQ(keys(0, "pods", "ns/p"), Keys{}) << "the node has no such taint";
  EXPECT_EQ(keys(1, "nodes", "n"), Keys{"ns/p"});
  const Json before = *stage.world.find(resources::kNodes, "n");
  stage.taint(kTaint);
  EXPECT_EQ(keys(0, "pods", "ns/p"), Keys{"ns/p"});
  const Json after = *stage.world.find(resources::kNodes, "n");
  EXPECT_TRUE(wakes[1].matters(&before, &after));
  EXPECT_TRUE(wakes[1].matters(&after, &before));
  EXPECT_TRUE(wakes[1].matters(nullptr, &after));
  EXPECT_FALSE(wakes[1].matters(&after, &after)) << "as with each heartbeat";
  EXPECT_FALSE(wakes[1].matters(nullptr, &before));
}

}  // namespace
}  // namespace controllers::cluster
