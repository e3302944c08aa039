// The places of a DaemonSet's pods, their turn to a new template, and its status.
#include "controllers/workloads/daemon_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/format.h"
#include "controllers/framework/trial_for_tests.h"
#include "controllers/workloads/daemon_set_nodes.h"
#include "controllers/workloads/pods.h"

namespace controllers::workloads {
namespace {

using api::Json;
namespace resources = api::resources;

const std::string kKey = "ns/d";

Json daemon_set(std::string_view spec = "{}") {
  Json made = *api::parse_json(R"({"apiVersion": "apps/v1", "kind": "DaemonSet",
      "metadata": {"name": "d", "namespace": "ns", "uid": "s", "generation": 1},
      "spec": {"selector": {"matchLabels": {"app": "d"}},
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0}},
        "template": {"metadata": {"labels": {"app": "d"}}, "spec": {"containers": [{"name": "c", "image": "one"}]}}}})");
  merge_patch(made, Json::object({{"spec", *api::parse_json(spec)}}));
  return made;
}

// As the node and the scheduler do it.
void run_pods(TestWorld& world, std::size_t most = 100) {
  for (auto& [key, pod] : world.objects[resources::kPods]) {
    if (is_ready(pod) || most == 0) continue;
    --most;
    const std::string node = node_of(pod);
    pod.edit("spec").set("nodeName", node);
    pod.set("status", *api::parse_json(base::format(R"({{"phase": "Running", "conditions": [{{"type": "Ready",
        "status": "True", "lastTransitionTime": "{}"}}]}})",
                                                    base::format_rfc3339(world.now))));
  }
}

struct Daemons {
  explicit Daemons(std::string_view spec = "{}", int nodes = 3) : controller(make_daemon_set_controller()) {
    world.use_indexes_of(*controller);
    world.deletes_pods_slowly = false;
    for (int i = 0; i < nodes; ++i) node(base::format("n{}", i));
    world.put(kDaemonSets, daemon_set(spec));
  }
  void node(const std::string& name, std::string_view spec = "{}") {
    world.put_text(
        resources::kNodes,
        base::format(R"({{"apiVersion": "v1", "kind": "Node", "metadata": {{"name": "{}", "labels": {{"name": "{}"}}}},
                                     "spec": {}}})",
                     name, name, spec));
  }
  void settle() {
    for (int i = 0; i < 8; ++i) {
      world.turn(*controller, kKey);
      world.now = world.now + base::seconds(1);
    }
  }
  void turn() { world.turn(*controller, kKey); }
  // "NODE:IMAGE " of each pod.
  std::string pods() const {
    std::vector<std::string> words;
    for (const Json* pod : world.all(resources::kPods))
      words.push_back(
          base::format("{}:{} ", node_of(*pod), (*pod)["spec"]["containers"][std::size_t{0}]["image"].as_string()));
    std::ranges::sort(words);
    std::string text;
    for (const std::string& word : words) text += word;
    return text;
  }
  Json& spec() { return world.edit(kDaemonSets, kKey)->edit("spec"); }
  void set_image(std::string_view image) {
    spec().edit_path({"template", "spec", "containers"}).edit(std::size_t{0}).set("image", image);
  }
  const Json& status() const { return (*world.find(kDaemonSets, kKey))["status"]; }

  TestWorld world;
  std::unique_ptr<Controller> controller;
};

TEST(DaemonSet, has_a_pod_on_each_node_and_says_so) {
  Daemons set;
  set.settle();
  EXPECT_EQ(set.pods(), "n0:one n1:one n2:one ");
  run_pods(set.world, 2);
  set.settle();
  EXPECT_EQ(set.status().sorted().dump(),
            R"({"currentNumberScheduled":3,"desiredNumberScheduled":3,"numberAvailable":2,"numberMisscheduled":0,)"
            R"("numberReady":2,"numberUnavailable":1,"observedGeneration":1,"updatedNumberScheduled":3})");
  set.node("n3");
  set.world.erase(resources::kNodes, "n0");
  set.settle();
  EXPECT_EQ(set.pods(), "n1:one n2:one n3:one ") << "a node that is gone has none";
}

TEST(DaemonSet, adopts_the_revision_of_the_set_before_it) {
  Daemons set;
  set.settle();
  for (auto* kind : {&resources::kPods, &kControllerRevisions})
    for (auto& [key, object] : set.world.objects[*kind]) object.edit("metadata").erase("ownerReferences");
  for (auto& [key, object] : set.world.objects[kDaemonSets]) object.edit("metadata").set("uid", "again");
  set.node("n3");
  set.settle();
  EXPECT_EQ(set.pods(), "n0:one n1:one n2:one n3:one ");
  ASSERT_EQ(set.world.all(kControllerRevisions).size(), 1U);
  EXPECT_EQ(api::controller_of(*set.world.all(kControllerRevisions)[0])["uid"].as_string(), "again");
}

struct Row {
  const char* what;
  const char* spec;
  const char* node;  // its spec
  bool runs, stays;
};
TEST(DaemonSet, pods_go_where_the_template_fits) {
  for (const Row& row : {
           Row{"all", "{}", "{}", true, true},
           Row{"a selector", R"({"nodeSelector": {"name": "n"}})", "{}", true, true},
           Row{"another selector", R"({"nodeSelector": {"name": "m"}})", "{}", false, false},
           Row{"by name", R"({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
               {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}]}]}}}})",
               "{}", true, true},
           Row{"not by name", R"({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
               {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": ["n"]}]}]}}}})",
               "{}", false, false},
           Row{"by expression", R"({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
               {"nodeSelectorTerms": [{"matchExpressions": [{"key": "gone", "operator": "Exists"}]},
                {"matchExpressions": [{"key": "name", "operator": "In", "values": ["n", "m"]}]}]}}}})",
               "{}", true, true},
           Row{"no term", R"({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
               {"nodeSelectorTerms": []}}}})",
               "{}", false, false},
           Row{"a taint", "{}", R"({"taints": [{"key": "gpu", "value": "a", "effect": "NoSchedule"}]})", false, true},
           Row{"a hard taint", "{}", R"({"taints": [{"key": "gpu", "effect": "NoExecute"}]})", false, false},
           Row{"a soft taint", "{}", R"({"taints": [{"key": "gpu", "effect": "PreferNoSchedule"}]})", true, true},
           Row{"a tolerated taint", R"({"tolerations": [{"key": "gpu", "value": "a"}]})",
               R"({"taints": [{"key": "gpu", "value": "a", "effect": "NoSchedule"}]})", true, true},
           Row{"a taint of another value", R"({"tolerations": [{"key": "gpu", "value": "b"}]})",
               R"({"taints": [{"key": "gpu", "value": "a", "effect": "NoSchedule"}]})", false, true},
           Row{"all taints", R"({"tolerations": [{"operator": "Exists"}]})",
               R"({"taints": [{"key": "gpu", "effect": "NoExecute"}]})", true, true},
           Row{"not ready", "{}", R"({"taints": [{"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"},
               {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}]})",
               true, true},
       }) {
    Json pod_template = Json::object({{"spec", *api::parse_json(row.spec)}});
    Json node = *api::parse_json(
        base::format(R"({{"metadata": {{"name": "n", "labels": {{"name": "n"}}}}, "spec": {}}})", row.node));
    const NodeFit fit = fit_for(daemon_pod_spec(pod_template), node);
    EXPECT_EQ(fit.runs, row.runs) << row.what;
    EXPECT_EQ(fit.stays, row.stays) << row.what;
  }
}

TEST(DaemonSet, turns_to_a_new_template_one_node_after_the_other) {
  Daemons set;
  set.settle();
  run_pods(set.world);
  set.settle();
  set.set_image("two");
  set.settle();
  EXPECT_EQ(set.pods(), "n0:two n1:one n2:one ") << "the second waits for the first";
  run_pods(set.world);
  set.settle();
  EXPECT_EQ(set.pods(), "n0:two n1:two n2:one ");
  EXPECT_EQ(set.status()["updatedNumberScheduled"].as_int(), 2);
  run_pods(set.world);
  set.settle();
  run_pods(set.world);
  set.settle();
  EXPECT_EQ(set.pods(), "n0:two n1:two n2:two ");
  EXPECT_EQ(set.status()["numberAvailable"].as_int(), 3);
  EXPECT_EQ(set.world.all(kControllerRevisions).size(), 2u);
}

TEST(DaemonSet, pods_that_serve_nobody_turn_at_once) {
  Daemons set(R"({"updateStrategy": {"rollingUpdate": {"maxUnavailable": "34%"}}})");
  set.settle();
  set.set_image("two");
  set.settle();
  EXPECT_EQ(set.pods(), "n0:two n1:two n2:two ");
}

TEST(DaemonSet, with_a_surge_the_old_pod_goes_when_the_new_one_is_there) {
  Daemons set(R"({"updateStrategy": {"rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1}}})");
  set.settle();
  run_pods(set.world);
  set.settle();
  set.set_image("two");
  set.settle();
  EXPECT_EQ(set.pods(), "n0:one n0:two n1:one n2:one ");
  run_pods(set.world);
  set.settle();
  EXPECT_EQ(set.pods(), "n0:two n1:one n1:two n2:one ");
}

TEST(DaemonSet, on_delete_pods_turn_when_they_are_deleted) {
  Daemons set(R"({"updateStrategy": {"type": "OnDelete", "rollingUpdate": null}})");
  set.settle();
  run_pods(set.world);
  set.set_image("two");
  set.settle();
  EXPECT_EQ(set.pods(), "n0:one n1:one n2:one ");
  for (const Json* pod : set.world.all(resources::kPods))
    if (node_of(*pod) == "n1") {
      set.world.erase(resources::kPods, api::key_of(*pod));
      break;
    }
  set.settle();
  EXPECT_EQ(set.pods(), "n0:one n1:two n2:one ");
}

TEST(DaemonSet, an_undone_change_is_the_newest_revision_again) {
  Daemons set;
  set.settle();
  set.set_image("two");
  set.settle();
  set.set_image("one");
  set.settle();
  std::vector<std::int64_t> numbers;
  for (const Json* one : set.world.all(kControllerRevisions)) {
    numbers.push_back((*one)["revision"].as_int());
    EXPECT_EQ((*one)["data"]["spec"]["template"]["$patch"].as_string(), "replace");
  }
  std::ranges::sort(numbers);
  EXPECT_EQ(numbers, (std::vector<std::int64_t>{2, 3}));
}

TEST(DaemonSet, the_largest_number_of_a_revision_has_none_after_it) {
  Daemons set;
  set.settle();
  for (auto& [key, revision] : set.world.objects[kControllerRevisions]) revision.set("revision", INT64_MAX);
  set.set_image("two");
  set.settle();
  ASSERT_EQ(set.world.all(kControllerRevisions).size(), 2U);
  for (const Json* one : set.world.all(kControllerRevisions)) EXPECT_EQ((*one)["revision"].as_int(), INT64_MAX);
  EXPECT_EQ(set.world.turn(*set.controller, kKey), "");
}

TEST(DaemonSet, revisions_of_other_namespaces_are_not_its_own) {
  Daemons daemons;
  daemons.world.put_text(kControllerRevisions, R"({"apiVersion": "apps/v1", "kind": "ControllerRevision", "revision": 9,
      "metadata": {"name": "r", "namespace": "elsewhere", "ownerReferences": [
      {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "d", "uid": "s", "controller": true}]}})");
  daemons.settle();
  for (const Json* one : daemons.world.all(kControllerRevisions))
    EXPECT_EQ((*one)["revision"].as_int(), api::namespace_of(*one) == "ns" ? 1 : 9);
}

TEST(DaemonSet, a_pod_that_failed_is_made_again_after_a_rest) {
  Daemons set("{}", 1);
  set.turn();
  set.turn();
  ASSERT_EQ(set.pods(), "n0:one ");
  const std::string before(api::name_of(*set.world.all(resources::kPods).front()));
  set.world.edit(resources::kPods, "ns/" + before)->set("status", Json::object({{"phase", "Failed"}}));
  set.turn();
  EXPECT_NE(set.world.find(resources::kPods, "ns/" + before), nullptr);
  set.world.now = set.world.now + base::seconds(11);
  set.settle();
  EXPECT_EQ(set.world.find(resources::kPods, "ns/" + before), nullptr);
  EXPECT_EQ(set.pods(), "n0:one ");
}

TEST(DaemonSet, comes_to_its_template_whatever_fails) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Trial trial(seed, make_daemon_set_controller);
    TestWorld& world = trial.world;
    world.deletes_pods_slowly = false;
    for (const char* node : {"a", "b", "c"})
      world.put_text(resources::kNodes, base::format(R"({{"kind": "Node", "metadata": {{"name": "{}"}}}})", node));
    world.put(
        kDaemonSets,
        daemon_set(seed % 2 == 0 ? R"({"updateStrategy": {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}})"
                                 : "{}"));
    for (int round = 0; round < 120; ++round) {
      trial.look(kKey);
      if (world.dice.chance(0.5)) run_pods(world, 1);
      Json& spec = world.edit(kDaemonSets, kKey)->edit("spec");
      if (world.dice.chance(0.05))
        spec.edit_path({"template", "spec", "containers"})
            .edit(std::size_t{0})
            .set("image", world.dice.chance(0.5) ? "one" : "two");
      world.now = world.now + base::seconds(2);
    }
    trial.faults = false;
    for (int round = 0; round < 60; ++round) {
      trial.look(kKey);
      run_pods(world);
      world.now = world.now + base::seconds(2);
    }
    EXPECT_TRUE(trial.comes_to_rest(kKey)) << seed;
    const Json& set = *world.find(kDaemonSets, kKey);
    std::set<std::string> nodes;
    for (const Json* pod : world.all(resources::kPods)) {
      nodes.insert(node_of(*pod));
      EXPECT_EQ((*pod)["spec"]["containers"], set["spec"]["template"]["spec"]["containers"]) << seed;
    }
    EXPECT_EQ(nodes, (std::set<std::string>{"a", "b", "c"})) << seed;
    EXPECT_EQ(world.all(resources::kPods).size(), 3u) << seed;
  }
}

// As by a taint NoExecute that its pods tolerate for no second.
TEST(DaemonSet, pods_that_a_node_takes_away_at_once_come_more_and_more_seldom_and_only_there) {
  Daemons daemons("{}", 2);
  std::set<std::string> made;
  for (int second = 0; second < 600; ++second) {
    daemons.world.now = daemons.world.now + base::seconds(1);
    for (int i = 0; i < 2; ++i) daemons.world.turn(*daemons.controller, kKey);
    std::erase_if(daemons.world.objects[resources::kPods], [&](const auto& one) {
      if (node_of(one.second) != "n0") return false;
      made.insert(one.first);
      return true;
    });
    if (second == 300) daemons.world.objects[resources::kPods].clear();  // by hand, once
  }
  EXPECT_GE(made.size(), 5U);
  EXPECT_LE(made.size(), 9U);
  EXPECT_EQ(daemons.world.all(resources::kPods).size(), 1U);
}

}  // namespace
}  // namespace controllers::workloads
