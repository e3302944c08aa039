// Which pods a ReplicaSet makes, gives up, takes over and lets go; and that it comes to rest.
#include "controllers/workloads/replica_set.h"

#include <gtest/gtest.h>

#include "base/format.h"
#include "controllers/framework/trial_for_tests.h"
#include "controllers/workloads/pods.h"

namespace controllers::workloads {
namespace {

using api::Json;
namespace resources = api::resources;

constexpr std::string_view kKey = "ns/web";

Json& put_set(TestWorld& world, std::int64_t replicas) {
  return world.put_text(resources::kReplicaSets, base::format(R"({{"apiVersion": "apps/v1", "kind": "ReplicaSet",
      "metadata": {{"name": "web", "namespace": "ns", "uid": "set", "generation": 1}},
      "spec": {{"replicas": {}, "selector": {{"matchLabels": {{"app": "web"}}}},
        "template": {{"metadata": {{"labels": {{"app": "web"}}}}, "spec": {{"containers": [{{"name": "c"}}]}}}}}},
      "status": {{"replicas": 0}}}})",
                                                              replicas));
}

Json& put_pod(TestWorld& world, std::string_view name, std::string_view more = "{}", std::string_view owner = "set",
              std::string_view app = "web") {
  const std::string owners =
      owner.empty() ? "[]"
                    : base::format(R"([{{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "{}",
                                        "controller": true}}])",
                                   owner);
  Json& pod = world.put_text(resources::kPods, base::format(R"({{"apiVersion": "v1", "kind": "Pod",
      "metadata": {{"name": "{}", "namespace": "ns", "labels": {{"app": "{}"}}, "ownerReferences": {}}},
      "spec": {{"nodeName": "n"}}, "status": {{"phase": "Running"}}}})",
                                                            name, app, owners));
  merge_patch(pod, *api::parse_json(more));
  return pod;
}

std::string ready_since(base::Time since) {
  return base::format(R"({{"status": {{"conditions": [{{"type": "Ready", "status": "True",
                          "lastTransitionTime": "{}"}}]}}}})",
                      base::format_rfc3339(since));
}

TEST(ReplicaSet, which_of_two_pods_goes) {
  TestWorld world;
  const base::Time now = world.now;
  const std::string ready = ready_since(now - base::hours(5));
  struct Row {
    const char* why;
    std::string goes, stays;
    std::size_t goes_together = 1, stays_together = 1;
  };
  const Row rows[] = {
      {"not placed", R"({"spec": {"nodeName": null}})", "{}"},
      {"pending", R"({"status": {"phase": "Pending"}})", R"({"status": {"phase": "Unknown"}})"},
      {"unknown", R"({"status": {"phase": "Unknown"}})", "{}"},
      {"not ready", "{}", ready},
      {"cheap", R"({"metadata": {"annotations": {"controller.kubernetes.io/pod-deletion-cost": "-5"}}})", "{}"},
      {"crowded", "{}", "{}", 3, 1},
      {"ready for a shorter time", ready_since(now - base::minutes(1)), ready},
      {"more restarts", R"({"status": {"containerStatuses": [{"restartCount": 3}]}})", "{}"},
      {"younger",
       base::format(R"({{"metadata": {{"creationTimestamp": "{}"}}}})", base::format_rfc3339(now - base::seconds(2))),
       R"({"metadata": {"creationTimestamp": "2020-01-01T00:00:00Z"}})"}};
  for (const Row& row : rows) {
    const Json a = put_pod(world, "a", row.goes);
    const Json b = put_pod(world, "b", row.stays);
    EXPECT_TRUE(goes_before({&a, row.goes_together}, {&b, row.stays_together}, now)) << row.why;
    EXPECT_FALSE(goes_before({&b, row.stays_together}, {&a, row.goes_together}, now)) << row.why;
  }
}

struct Set {
  Set() : controller(make_replica_set_controller()) { world.use_indexes_of(*controller); }
  std::string turn_now(int failures = 0, const std::string& error = {}) {
    return world.turn(*controller, std::string(kKey), failures, error);
  }
  TestWorld world;
  std::unique_ptr<Controller> controller;
};

std::size_t lines_with(const std::string& text, std::string_view word) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; ++at) ++count;
  return count;
}

TEST(ReplicaSet, missing_pods_are_made_at_once_and_the_status_waits_for_them) {
  Set set;
  TestWorld& world = set.world;
  put_set(world, 3);
  const std::string plan = set.turn_now();
  EXPECT_EQ(lines_with(plan, "create Pod ns/web-"), 3U) << plan;
  EXPECT_EQ(lines_with(plan, "status"), 0U) << plan;
  EXPECT_EQ(lines_with(set.turn_now(), R"("replicas":3)"), 1U);
  EXPECT_EQ(lines_with(set.turn_now(), "status"), 0U) << "nothing is new";
}

TEST(ReplicaSet, a_refused_pod_is_said_and_then_asked_for_slowly) {
  Set set;
  TestWorld& world = set.world;
  put_set(world, 4);
  const std::string plan = set.turn_now(1, "exceeded quota");
  EXPECT_EQ(plan.find("status ReplicaSet ns/web"), 0U) << plan;
  EXPECT_EQ(lines_with(plan, R"("reason":"FailedCreate")"), 1U) << plan;
  EXPECT_EQ(lines_with(plan, "--"), 3U) << "one, two, one: " << plan;
}

// A node refuses a pod at once: without a pause hundreds of pods would come and fail.
TEST(ReplicaSet, a_pod_that_failed_keeps_its_place_for_ten_seconds) {
  Set set;
  put_set(set.world, 2);
  put_pod(set.world, "old", R"({"status": {"phase": "Failed"}})")
      .edit("metadata")
      .set("creationTimestamp", base::format_rfc3339(set.world.now - base::seconds(30)));
  put_pod(set.world, "young", R"({"status": {"phase": "Failed"}})")
      .edit("metadata")
      .set("creationTimestamp", base::format_rfc3339(set.world.now - base::seconds(4)));
  EXPECT_EQ(lines_with(set.turn_now(), "create Pod"), 1U);
  set.world.now = set.world.now + base::seconds(7);
  EXPECT_EQ(lines_with(set.turn_now(), "create Pod"), 1U);
}

// As by a taint that its pods tolerate for no second.
TEST(ReplicaSet, pods_that_are_taken_away_at_once_are_made_more_and_more_seldom) {
  Set set;
  put_set(set.world, 2);
  std::size_t made = 0;
  for (int second = 0; second < 600; ++second) {
    set.world.now = set.world.now + base::seconds(1);
    made += lines_with(set.turn_now(), "create Pod");
    if (second % 2 == 1) set.world.objects[resources::kPods].clear();
  }
  EXPECT_GE(made, 10U);
  EXPECT_LE(made, 16U);
}

TEST(ReplicaSet, pods_are_adopted_and_let_go_by_their_labels) {
  Set set;
  TestWorld& world = set.world;
  put_set(world, 1);
  put_pod(world, "stray", "{}", "");
  put_pod(world, "other", "{}", "", "db");
  put_pod(world, "left", "{}", "set", "debug");
  const std::string plan = set.turn_now();
  EXPECT_EQ(lines_with(plan, "patch Pod ns/stray"), 1U) << plan;
  EXPECT_EQ(lines_with(plan, "patch Pod ns/left"), 1U) << plan;
  EXPECT_EQ(lines_with(plan, "ns/other"), 0U) << plan;
  EXPECT_EQ(lines_with(plan, "create"), 0U) << "the stray one is enough: " << plan;
  EXPECT_EQ(api::controller_of(*world.find(resources::kPods, "ns/stray"))["uid"].as_string(), "set");
  EXPECT_TRUE(api::controller_of(*world.find(resources::kPods, "ns/left")).is_null());
}

// A user who may make pods anywhere may write this reference.
TEST(ReplicaSet, pods_of_other_namespaces_are_not_its_own) {
  Set set;
  TestWorld& world = set.world;
  put_set(world, 2);
  for (const char* name : {"a", "b", "c"}) {
    Json pod = put_pod(world, name);
    world.erase(resources::kPods, base::format("ns/{}", name));
    pod.edit("metadata").set("namespace", "elsewhere");
    world.put(resources::kPods, std::move(pod));
  }
  const std::string plan = set.turn_now();
  EXPECT_EQ(lines_with(plan, "create Pod ns/web-"), 2U) << plan;
  EXPECT_EQ(lines_with(plan, "elsewhere"), 0U) << plan;
}

TEST(ReplicaSet, a_pod_is_available_once_it_was_ready_for_long_enough) {
  Set set;
  TestWorld& world = set.world;
  put_set(world, 1).edit("spec").set("minReadySeconds", 30);
  put_pod(world, "a", ready_since(world.now - base::seconds(10)));
  EXPECT_EQ(lines_with(set.turn_now(), "availableReplicas"), 0U);
  world.now = world.now + base::seconds(21);
  EXPECT_EQ(lines_with(set.turn_now(), R"("availableReplicas":1)"), 1U);
}

TEST(ReplicaSet, one_that_is_being_deleted_makes_nothing) {
  Set set;
  TestWorld& world = set.world;
  put_set(world, 3).edit("metadata").set("deletionTimestamp", "2026-01-01T00:00:00Z");
  EXPECT_EQ(lines_with(set.turn_now(), "create"), 0U);
}

TEST(ReplicaSet, comes_to_its_number_whatever_fails) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Trial trial(seed, make_replica_set_controller);
    TestWorld& world = trial.world;
    put_set(world, 3);
    for (int round = 0; round < 40; ++round) {
      trial.look(std::string(kKey));
      for (auto& [key, pod] : world.objects[resources::kPods])
        if (world.dice.chance(0.2)) pod.edit("status").set("phase", world.dice.chance(0.3) ? "Failed" : "Running");
      if (world.dice.chance(0.2)) world.gone();
      if (world.dice.chance(0.1))
        world.edit(resources::kReplicaSets, std::string(kKey))
            ->edit("spec")
            .set("replicas", static_cast<std::int64_t>(world.dice.below(6)));
      world.now = world.now + base::seconds(3);
    }
    world.now = world.now + base::minutes(6);  // no place rests any more
    ASSERT_TRUE(trial.comes_to_rest(std::string(kKey))) << seed;
    std::int64_t active = 0;
    for (const auto& [key, pod] : world.objects[resources::kPods]) active += is_active(pod);
    const Json& set = *world.find(resources::kReplicaSets, kKey);
    EXPECT_EQ(active, set["spec"]["replicas"].as_int()) << seed;
    EXPECT_EQ(active, set["status"]["replicas"].as_int()) << seed;
  }
}

}  // namespace
}  // namespace controllers::workloads
