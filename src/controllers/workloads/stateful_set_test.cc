// In which order a StatefulSet makes, changes and deletes its pods.
#include "controllers/workloads/stateful_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/format.h"
#include "controllers/framework/trial_for_tests.h"
#include "controllers/workloads/pods.h"

namespace controllers::workloads {
namespace {

using api::Json;
namespace resources = api::resources;

const std::string kKey = "ns/db";

Json stateful_set(std::string_view spec = "{}") {
  Json made = *api::parse_json(R"({"apiVersion": "apps/v1", "kind": "StatefulSet",
      "metadata": {"name": "db", "namespace": "ns", "uid": "s", "generation": 1},
      "spec": {"replicas": 3, "serviceName": "db", "podManagementPolicy": "OrderedReady",
        "selector": {"matchLabels": {"app": "db"}},
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}},
        "template": {"metadata": {"labels": {"app": "db"}}, "spec": {"containers": [{"name": "c", "image": "one"}]}},
        "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": {}}]},
      "status": {"replicas": 0}})");
  merge_patch(made, Json::object({{"spec", *api::parse_json(spec)}}));
  return made;
}

void make_ready(TestWorld& world, std::size_t most) {
  for (auto& [key, pod] : world.objects[resources::kPods]) {
    if (is_ready(pod) || most == 0) continue;
    --most;
    pod.edit("spec").set("nodeName", "n");
    pod.set("status", *api::parse_json(base::format(R"({{"phase": "Running", "conditions": [{{"type": "Ready",
        "status": "True", "lastTransitionTime": "{}"}}]}})",
                                                    base::format_rfc3339(world.now))));
  }
}

struct Ordered {
  explicit Ordered(std::string_view spec = "{}") : controller(make_stateful_set_controller()) {
    world.use_indexes_of(*controller);
    world.deletes_pods_slowly = false;
    world.put(resources::kStatefulSets, stateful_set(spec));
  }
  void settle() {
    for (int i = 0; i < 8; ++i) world.turn(*controller, kKey);
  }
  void roll(int rounds) {
    for (int i = 0; i < rounds; ++i) {
      settle();
      make_ready(world, 1);
    }
    settle();
  }
  // Names and images.
  std::string pods() const {
    std::string text;
    for (const Json* pod : world.all(resources::kPods))
      text +=
          base::format("{}:{} ", api::name_of(*pod), (*pod)["spec"]["containers"][std::size_t{0}]["image"].as_string());
    return text;
  }
  Json& spec() { return world.edit(resources::kStatefulSets, kKey)->edit("spec"); }
  void set_image(std::string_view image) {
    spec().edit_path({"template", "spec", "containers"}).edit(std::size_t{0}).set("image", image);
  }
  const Json& status() const { return (*world.find(resources::kStatefulSets, kKey))["status"]; }

  TestWorld world;
  std::unique_ptr<Controller> controller;
};

TEST(StatefulSet, a_pod_waits_for_those_before_it) {
  Ordered set;
  set.settle();
  EXPECT_EQ(set.pods(), "db-0:one ");
  set.roll(1);
  EXPECT_EQ(set.pods(), "db-0:one db-1:one ");
  set.roll(3);
  EXPECT_EQ(set.pods(), "db-0:one db-1:one db-2:one ");
  EXPECT_EQ(set.status()["readyReplicas"].as_int(), 3);
  const Json& pod = *set.world.find(resources::kPods, "ns/db-1");
  EXPECT_EQ(pod["spec"]["hostname"].as_string(), "db-1");
  EXPECT_EQ(pod["spec"]["subdomain"].as_string(), "db");
  EXPECT_EQ(api::label_of(pod, "apps.kubernetes.io/pod-index"), "1");
  EXPECT_NE(set.world.find(resources::kPersistentVolumeClaims, "ns/data-db-1"), nullptr);
}

TEST(StatefulSet, in_parallel_all_come_at_once) {
  Ordered set(R"({"podManagementPolicy": "Parallel"})");
  set.settle();
  EXPECT_EQ(set.pods(), "db-0:one db-1:one db-2:one ");
}

// 30 pods of 100 claims each: in one plan they, and what the pods say of them, would be more than there is memory for.
TEST(StatefulSet, in_parallel_some_come_at_each_look_if_they_are_large) {
  Ordered set(R"({"podManagementPolicy": "Parallel", "replicas": 30})");
  Json patterns = Json::array();
  for (int i = 0; i < 100; ++i)
    patterns.push_back(Json::object(
        {{"metadata", Json::object({{"name", base::format("v{}", i)}})}, {"spec", Json::object({{"x", 1}})}}));
  set.spec().set("volumeClaimTemplates", patterns);
  set.spec()
      .edit_path({"template", "spec"})
      .set("volumes", *api::parse_json(R"([{"name": "v7", "emptyDir": {}}, {"name": "own", "emptyDir": {}}])"));
  for (const bool are_claims_there : {false, true}) {
    for (int looks = 0; looks < 20 && set.world.all(resources::kPods).size() < 30; ++looks) {
      const std::size_t pods = set.world.all(resources::kPods).size();
      const std::string text = set.world.turn(*set.controller, kKey);
      EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 520) << are_claims_there;
      EXPECT_LE(set.world.all(resources::kPods).size(), pods + 5) << are_claims_there;
    }
    ASSERT_EQ(set.world.all(resources::kPods).size(), 30u) << are_claims_there;
    EXPECT_EQ(set.world.all(resources::kPersistentVolumeClaims).size(), 3000u);
    const Json& volumes = (*set.world.find(resources::kPods, "ns/db-29"))["spec"]["volumes"];
    ASSERT_EQ(volumes.size(), 101u);
    EXPECT_EQ(volumes[std::size_t{0}]["name"].as_string(), "own");
    EXPECT_EQ(volumes[std::size_t{8}]["persistentVolumeClaim"]["claimName"].as_string(), "v7-db-29");
    set.world.objects[resources::kPods].clear();
  }
}

TEST(StatefulSet, the_highest_goes_first_and_its_claim_stays) {
  Ordered set;
  set.roll(4);
  set.spec().set("replicas", 1);
  EXPECT_EQ(set.world.turn(*set.controller, kKey).find("delete Pod ns/db-2"), 0U);
  set.settle();
  EXPECT_EQ(set.pods(), "db-0:one ");
  EXPECT_NE(set.world.find(resources::kPersistentVolumeClaims, "ns/data-db-2"), nullptr);
}

TEST(StatefulSet, claims_go_with_what_they_are_told_to_go_with) {
  Ordered set(R"({"persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Delete", "whenScaled": "Delete"}})");
  set.roll(4);
  const auto owner = [&](const char* claim) {
    return (*set.world.find(resources::kPersistentVolumeClaims, claim))["metadata"]["ownerReferences"][std::size_t{0}];
  };
  EXPECT_EQ(owner("ns/data-db-2")["kind"].as_string(), "StatefulSet");
  set.spec().set("replicas", 2);
  set.settle();
  EXPECT_EQ(owner("ns/data-db-2")["kind"].as_string(), "Pod");
  EXPECT_EQ(owner("ns/data-db-1")["kind"].as_string(), "StatefulSet");
}

TEST(StatefulSet, an_update_goes_from_the_highest_down_to_the_partition) {
  Ordered set(R"({"updateStrategy": {"rollingUpdate": {"partition": 1}}})");
  set.roll(4);
  set.set_image("two");
  set.settle();
  EXPECT_EQ(set.pods(), "db-0:one db-1:one db-2:two ");
  set.roll(4);
  EXPECT_EQ(set.pods(), "db-0:one db-1:two db-2:two ");
  EXPECT_EQ(set.status()["updatedReplicas"].as_int(), 2);
  EXPECT_NE(set.status()["currentRevision"], set.status()["updateRevision"]);
  set.world.erase(resources::kPods, "ns/db-0");
  set.roll(2);
  EXPECT_EQ(set.pods(), "db-0:one db-1:two db-2:two ") << "below the partition the old template holds";
  set.spec().edit_path({"updateStrategy", "rollingUpdate"}).set("partition", 0);
  set.roll(4);
  EXPECT_EQ(set.pods(), "db-0:two db-1:two db-2:two ");
  EXPECT_EQ(set.status()["currentRevision"], set.status()["updateRevision"]);
}

TEST(StatefulSet, the_largest_number_of_a_revision_has_none_after_it) {
  Ordered set;
  set.roll(4);
  for (auto& [key, revision] : set.world.objects[kControllerRevisions]) revision.set("revision", INT64_MAX);
  set.set_image("two");
  set.roll(6);
  EXPECT_EQ(set.pods(), "db-0:two db-1:two db-2:two ");
  for (const Json* one : set.world.all(kControllerRevisions)) EXPECT_EQ((*one)["revision"].as_int(), INT64_MAX);
}

// kubectl delete --cascade=orphan and a new set: the usual way to other volumeClaimTemplates.
TEST(StatefulSet, adopts_the_revision_of_the_set_before_it) {
  Ordered set;
  set.roll(4);
  for (auto* kind : {&resources::kPods, &kControllerRevisions})
    for (auto& [key, object] : set.world.objects[*kind]) object.edit("metadata").erase("ownerReferences");
  set.world.edit(resources::kStatefulSets, kKey)->edit("metadata").set("uid", "again");
  set.settle();
  ASSERT_EQ(set.world.all(kControllerRevisions).size(), 1U);
  EXPECT_EQ(api::controller_of(*set.world.all(kControllerRevisions)[0])["uid"].as_string(), "again");
  set.spec().set("replicas", 4);
  set.roll(2);
  EXPECT_EQ(set.pods(), "db-0:one db-1:one db-2:one db-3:one ");
}

// kubectl delete pvc and pod: the usual way to begin one replica anew.
TEST(StatefulSet, a_pod_waits_until_its_old_claim_is_gone_and_gets_a_new_one) {
  Ordered set(R"({"replicas": 1})");
  set.roll(2);
  Json& claim = *set.world.edit(resources::kPersistentVolumeClaims, "ns/data-db-0");
  claim.edit("metadata").set("deletionTimestamp", base::format_rfc3339(set.world.now));
  set.world.erase(resources::kPods, "ns/db-0");
  set.settle();
  EXPECT_EQ(set.pods(), "");
  EXPECT_EQ(set.controller->step(set.world, kKey, {.now = set.world.now}).look_again(), base::seconds(1));
  set.world.erase(resources::kPersistentVolumeClaims, "ns/data-db-0");
  set.settle();
  EXPECT_EQ(set.pods(), "db-0:one ");
  // One that is deleted while the pod waits for a node is made again.
  set.world.erase(resources::kPersistentVolumeClaims, "ns/data-db-0");
  set.settle();
  EXPECT_NE(set.world.find(resources::kPersistentVolumeClaims, "ns/data-db-0"), nullptr);
}

TEST(StatefulSet, revisions_of_other_namespaces_are_not_its_own) {
  Ordered set;
  set.world.put_text(kControllerRevisions, R"({"apiVersion": "apps/v1", "kind": "ControllerRevision", "revision": 9,
      "metadata": {"name": "r", "namespace": "elsewhere", "ownerReferences": [
      {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db", "uid": "s", "controller": true}]}})");
  set.settle();
  for (const Json* one : set.world.all(kControllerRevisions))
    EXPECT_EQ((*one)["revision"].as_int(), api::namespace_of(*one) == "ns" ? 1 : 9);
}

TEST(StatefulSet, a_pod_that_failed_is_made_again) {
  Ordered set;
  set.roll(4);
  set.world.edit(resources::kPods, "ns/db-1")->edit("status").set("phase", "Failed");
  set.settle();
  EXPECT_EQ((*set.world.find(resources::kPods, "ns/db-1"))["status"]["phase"].as_string(), "Failed") << "not at once";
  set.world.now = set.world.now + base::seconds(11);
  set.settle();
  EXPECT_EQ(set.pods(), "db-0:one db-1:one db-2:one ");
  EXPECT_TRUE((*set.world.find(resources::kPods, "ns/db-1"))["status"]["phase"].as_string() != "Failed");
}

TEST(StatefulSet, comes_to_its_template_whatever_fails) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Trial trial(seed, make_stateful_set_controller);
    TestWorld& world = trial.world;
    world.deletes_pods_slowly = false;
    world.put(resources::kStatefulSets, stateful_set());
    for (int round = 0; round < 120; ++round) {
      trial.look(kKey);
      if (world.dice.chance(0.5)) make_ready(world, 1);
      Json& spec = world.edit(resources::kStatefulSets, kKey)->edit("spec");
      if (world.dice.chance(0.05)) spec.set("replicas", static_cast<std::int64_t>(world.dice.below(5)));
      if (world.dice.chance(0.05))
        spec.edit_path({"template", "spec", "containers"})
            .edit(std::size_t{0})
            .set("image", world.dice.chance(0.5) ? "one" : "two");
      world.now = world.now + base::seconds(2);
    }
    trial.faults = false;
    for (int round = 0; round < 60; ++round) {
      trial.look(kKey);
      make_ready(world, 10);
      world.now = world.now + base::seconds(2);
    }
    EXPECT_TRUE(trial.comes_to_rest(kKey)) << seed;
    const Json& set = *world.find(resources::kStatefulSets, kKey);
    EXPECT_EQ(static_cast<std::int64_t>(world.all(resources::kPods).size()), set["spec"]["replicas"].as_int()) << seed;
    for (const Json* pod : world.all(resources::kPods))
      EXPECT_EQ((*pod)["spec"], [&] {
        Json expected = (*pod)["spec"];
        expected.set("containers", set["spec"]["template"]["spec"]["containers"]);
        return expected;
      }()) << seed;
  }
}

TEST(StatefulSet, a_pod_that_fails_at_once_is_made_again_more_and_more_seldom) {
  Ordered ordered(R"({"replicas": 1, "volumeClaimTemplates": null})");
  std::set<std::string> made;
  for (int second = 0; second < 900; ++second) {
    ordered.world.now = ordered.world.now + base::seconds(1);
    ordered.world.turn(*ordered.controller, kKey);
    for (auto& [key, pod] : ordered.world.objects[resources::kPods]) {
      made.insert(std::string(api::uid_of(pod)));
      pod.set("status", *api::parse_json(R"({"phase": "Failed"})"));
    }
  }
  EXPECT_GE(made.size(), 5U);
  EXPECT_LE(made.size(), 10U);
}

// As over a quota: the status goes on to say what there is.
TEST(StatefulSet, a_refused_pod_does_not_stop_the_status) {
  Ordered ordered(R"({"podManagementPolicy": "Parallel", "volumeClaimTemplates": null})");
  ordered.world.refuse = [](const Action& action) -> std::optional<base::Error> {
    if (action.verb != Action::Verb::kCreate || action.name != "db-2") return std::nullopt;
    return base::make_error(base::Code::kForbidden, "exceeded quota");
  };
  ordered.roll(3);
  const Json* set = ordered.world.find(resources::kStatefulSets, kKey);
  EXPECT_EQ((*set)["status"]["readyReplicas"].as_int(), 2);
}

}  // namespace
}  // namespace controllers::workloads
