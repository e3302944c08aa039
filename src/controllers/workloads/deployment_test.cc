// How a Deployment gets from one template to the next, with the ReplicaSet controller beside it.
#include "controllers/workloads/deployment.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/format.h"
#include "controllers/framework/trial_for_tests.h"
#include "controllers/workloads/pods.h"
#include "controllers/workloads/replica_set.h"

namespace controllers::workloads {
namespace {

using api::Json;
namespace resources = api::resources;

constexpr const char* kKey = "ns/web";

Json deployment(std::int64_t replicas, std::string_view more = "{}") {
  Json made = *api::parse_json(base::format(R"({{"apiVersion": "apps/v1", "kind": "Deployment",
      "metadata": {{"name": "web", "namespace": "ns", "uid": "d", "generation": 1}},
      "spec": {{"replicas": {}, "selector": {{"matchLabels": {{"app": "web"}}}},
        "strategy": {{"type": "RollingUpdate", "rollingUpdate": {{"maxSurge": "25%", "maxUnavailable": "25%"}}}},
        "revisionHistoryLimit": 10, "progressDeadlineSeconds": 600,
        "template": {{"metadata": {{"labels": {{"app": "web"}}}},
                     "spec": {{"containers": [{{"name": "c", "image": "one"}}]}}}}}},
      "status": {{}}}})",
                                            replicas));
  merge_patch(made, *api::parse_json(more));
  return made;
}

TEST(Deployment, how_many_more_and_fewer_pods_there_may_be) {
  struct Row {
    std::int64_t replicas;
    std::string strategy;
    Bounds bounds;
  };
  const Row rows[] = {{10, R"({"rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}})", {3, 2}},
                      {1, R"({"rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}})", {1, 0}},
                      {3, R"({"rollingUpdate": {"maxSurge": 0, "maxUnavailable": "1%"}})", {0, 1}},
                      {3, R"({"rollingUpdate": {"maxSurge": 2, "maxUnavailable": 5}})", {2, 3}},
                      {0, R"({"rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}})", {0, 0}},
                      {4, R"({"type": "Recreate", "rollingUpdate": null})", {0, 0}}};
  for (const Row& row : rows)
    EXPECT_EQ(bounds_of(deployment(row.replicas, base::format(R"({{"spec": {{"strategy": {}}}}})", row.strategy))),
              row.bounds)
        << row.strategy;
}

// Both controllers, pods that become ready when they are let, and a count of what was written.
struct Cluster {
  Cluster() : deployments(make_deployment_controller()), sets(make_replica_set_controller()) {
    world.use_indexes_of(*deployments);
    world.use_indexes_of(*sets);
    world.deletes_pods_slowly = false;
  }

  // True: something was written.
  bool look() {
    bool wrote = step(*deployments, kKey);
    std::vector<std::string> keys;
    for (const auto& [key, set] : world.objects[resources::kReplicaSets]) keys.push_back(key);
    for (const std::string& key : keys) wrote = step(*sets, key) || wrote;
    return wrote;
  }
  bool step(Controller& controller, const std::string& key) {
    const Plan plan = controller.step(world, key, {.now = world.now});
    for (const Stage& stage : plan.stages())
      for (const Action& action : stage.actions) writes += action.verb != Action::Verb::kEvent;
    world.apply(plan);
    // As the server does for each change of a spec.
    for (const api::ResourceId& resource : {resources::kReplicaSets})
      for (auto& [set_key, set] : world.objects[resource]) {
        Json& spec = specs[set_key];
        if (spec != set["spec"]) set.edit("metadata").set("generation", set["metadata"]["generation"].as_int() + 1);
        spec = set["spec"];
      }
    return !writes_nothing(plan);
  }
  void make_ready(std::size_t most = 1000) {
    for (auto& [key, pod] : world.objects[resources::kPods]) {
      if (is_ready(pod) || most == 0) continue;
      --most;
      pod.edit("spec").set("nodeName", "n");
      pod.set("status", *api::parse_json(base::format(R"({{"phase": "Running", "conditions": [{{"type": "Ready",
          "status": "True", "lastTransitionTime": "{}"}}]}})",
                                                      base::format_rfc3339(world.now))));
    }
  }
  void settle() {
    for (int round = 0; round < 200 && look(); ++round) world.now = world.now + base::seconds(1);
  }
  void roll_out() {
    for (int round = 0; round < 100; ++round) {
      settle();
      make_ready();
    }
  }
  void set_image(std::string_view image) {
    Json& one = *world.edit(kDeployments, kKey);
    one.edit_path({"spec", "template", "spec", "containers"}).edit(std::size_t{0}).set("image", image);
    changed();
  }
  void changed() {
    Json& one = *world.edit(kDeployments, kKey);
    one.edit("metadata").set("generation", one["metadata"]["generation"].as_int() + 1);
  }
  const Json& seen() const { return *world.find(kDeployments, kKey); }
  std::size_t pods() const { return world.all(resources::kPods).size(); }
  std::string progress() const { return condition_of(seen()["status"], "Progressing")["reason"].str(); }
  std::string revision_of(std::string_view image) const {
    for (const Json* set : world.all(resources::kReplicaSets))
      if ((*set)["spec"]["template"]["spec"]["containers"][std::size_t{0}]["image"].as_string() == image)
        return std::string(api::annotation_of(*set, "deployment.kubernetes.io/revision"));
    return "";
  }

  TestWorld world;
  std::unique_ptr<Controller> deployments;
  std::unique_ptr<Controller> sets;
  std::map<std::string, Json> specs;
  std::size_t writes = 0;
};

TEST(Deployment, gets_its_pods_and_says_so) {
  Cluster cluster;
  cluster.world.put(kDeployments, deployment(3));
  cluster.settle();
  EXPECT_EQ(cluster.pods(), 3U);
  EXPECT_EQ(condition_of(cluster.seen()["status"], "Available")["status"].as_string(), "False");
  cluster.roll_out();
  const Json& status = cluster.seen()["status"];
  for (const char* count : {"replicas", "updatedReplicas", "readyReplicas", "availableReplicas"})
    EXPECT_EQ(status[count].as_int(), 3) << count;
  EXPECT_EQ(cluster.progress(), "NewReplicaSetAvailable");
  EXPECT_EQ(condition_of(status, "Available")["status"].as_string(), "True");
  EXPECT_EQ(api::annotation_of(cluster.seen(), "deployment.kubernetes.io/revision"), "1");
  EXPECT_FALSE(cluster.look()) << "and then nothing is written";
}

TEST(Deployment, a_hundred_pods_cost_at_most_a_hundred_and_ten_writes) {
  Cluster cluster;
  cluster.world.put(kDeployments, deployment(100));
  cluster.roll_out();
  EXPECT_EQ(cluster.seen()["status"]["availableReplicas"].as_int(), 100);
  EXPECT_LE(cluster.writes, 110U);
}

TEST(Deployment, a_rolling_update_stays_within_its_bounds) {
  Cluster cluster;
  cluster.world.put(kDeployments, deployment(8));
  cluster.roll_out();
  cluster.set_image("two");
  for (int round = 0; round < 200; ++round) {
    cluster.look();
    std::size_t ready = 0;
    for (const Json* pod : cluster.world.all(resources::kPods)) ready += is_ready(*pod);
    ASSERT_LE(cluster.pods(), 10U);
    ASSERT_GE(ready, 6U);
    if (round % 3 == 0) cluster.make_ready(1);
    cluster.world.now = cluster.world.now + base::seconds(1);
  }
  EXPECT_EQ(cluster.seen()["status"]["updatedReplicas"].as_int(), 8);
  EXPECT_EQ(cluster.pods(), 8U);
  EXPECT_EQ(cluster.progress(), "NewReplicaSetAvailable");
}

TEST(Deployment, a_name_that_is_taken_is_counted_also_after_the_largest_count) {
  for (const std::int64_t before : {std::int64_t{INT32_MAX}, std::int64_t{-1}}) {
    Cluster cluster;
    cluster.world.put(kDeployments, deployment(1));
    cluster.world.edit(kDeployments, kKey)->edit("status").set("collisionCount", before);
    cluster.settle();
    ASSERT_EQ(cluster.world.all(resources::kReplicaSets).size(), 1U);
    for (auto& [key, set] : cluster.world.objects[resources::kReplicaSets]) {  // it belongs to nobody now
      set.edit("metadata").erase("ownerReferences");
      set.edit("metadata").erase("labels");
    }
    cluster.settle();
    EXPECT_EQ(cluster.world.all(resources::kReplicaSets).size(), 2U) << before;
    EXPECT_EQ(cluster.seen()["status"]["collisionCount"].as_int(), 1) << before;
  }
}

TEST(Deployment, a_rollback_takes_the_old_set_with_a_new_revision) {
  Cluster cluster;
  cluster.world.put(kDeployments, deployment(2));
  cluster.roll_out();
  cluster.set_image("two");
  cluster.roll_out();
  EXPECT_EQ(cluster.revision_of("two"), "2");
  cluster.set_image("one");
  cluster.roll_out();
  EXPECT_EQ(cluster.world.all(resources::kReplicaSets).size(), 2U);
  EXPECT_EQ(cluster.revision_of("one"), "3");
  EXPECT_EQ(api::annotation_of(cluster.seen(), "deployment.kubernetes.io/revision"), "3");
  EXPECT_EQ(cluster.progress(), "NewReplicaSetAvailable");
}

// Its set may have been made of a template with "" and [], which Go's clients drop from what they send back.
TEST(Deployment, a_template_without_what_need_not_be_written_is_the_same) {
  constexpr std::string_view kWritten = R"({"spec": {"template": {"spec": {"tolerations": [], "containers":
      [{"name": "c", "image": "one", "env": [{"name": "A", "value": ""}]}]}}}})";
  constexpr std::string_view kDropped = R"({"spec": {"template": {"spec": {"tolerations": null, "containers":
      [{"name": "c", "image": "one", "env": [{"name": "A"}]}]}}}})";
  Cluster cluster;
  cluster.world.put(kDeployments, deployment(2, kWritten));
  cluster.roll_out();
  merge_patch(*cluster.world.edit(kDeployments, kKey), *api::parse_json(kDropped));
  cluster.changed();
  cluster.roll_out();
  EXPECT_EQ(cluster.world.all(resources::kReplicaSets).size(), 1U);
}

TEST(Deployment, old_sets_go_beyond_the_history_limit) {
  Cluster cluster;
  cluster.world.put(kDeployments, deployment(1, R"({"spec": {"revisionHistoryLimit": 1}})"));
  for (const char* image : {"one", "two", "three", "four"}) {
    cluster.set_image(image);
    cluster.roll_out();
  }
  EXPECT_EQ(cluster.world.all(resources::kReplicaSets).size(), 2U);
  EXPECT_EQ(cluster.revision_of("three"), "3");
}

TEST(Deployment, recreate_waits_for_the_old_pods) {
  Cluster cluster;
  cluster.world.deletes_pods_slowly = true;
  cluster.world.put(kDeployments,
                    deployment(2, R"({"spec": {"strategy": {"type": "Recreate", "rollingUpdate": null}}})"));
  cluster.roll_out();
  cluster.set_image("two");
  cluster.settle();
  EXPECT_EQ(cluster.world.all(resources::kReplicaSets).size(), 1U) << "old pods are still there";
  cluster.world.gone();
  cluster.roll_out();
  EXPECT_EQ(cluster.pods(), 2U);
  EXPECT_EQ(cluster.seen()["status"]["updatedReplicas"].as_int(), 2);
}

TEST(Deployment, recreate_does_not_wait_for_pods_of_other_namespaces) {
  Cluster cluster;
  cluster.world.put(kDeployments,
                    deployment(1, R"({"spec": {"strategy": {"type": "Recreate", "rollingUpdate": null}}})"));
  cluster.roll_out();
  Json copy = *cluster.world.all(resources::kPods).front();
  copy.edit("metadata").set("namespace", "elsewhere");
  cluster.world.put(resources::kPods, std::move(copy));
  cluster.set_image("two");
  cluster.roll_out();
  EXPECT_EQ(cluster.revision_of("two"), "2");
  EXPECT_EQ(cluster.pods(), 2U) << "the new one, and what is elsewhere";
}

TEST(Deployment, a_paused_one_scales_and_does_not_roll) {
  Cluster cluster;
  cluster.world.put(kDeployments, deployment(2));
  cluster.roll_out();
  cluster.world.edit(kDeployments, kKey)->edit("spec").set("paused", true);
  cluster.world.edit(kDeployments, kKey)->edit("spec").set("replicas", 4);
  cluster.set_image("two");
  cluster.roll_out();
  EXPECT_EQ(cluster.pods(), 4U);
  EXPECT_EQ(cluster.world.all(resources::kReplicaSets).size(), 1U);
  EXPECT_EQ(cluster.progress(), "DeploymentPaused");
  cluster.world.edit(kDeployments, kKey)->edit("spec").set("paused", false);
  cluster.changed();
  cluster.roll_out();
  EXPECT_EQ(cluster.seen()["status"]["updatedReplicas"].as_int(), 4);
  EXPECT_EQ(cluster.progress(), "NewReplicaSetAvailable");
}

TEST(Deployment, pods_that_never_get_ready_are_said_after_the_deadline) {
  Cluster cluster;
  cluster.world.put(kDeployments, deployment(1));
  cluster.settle();
  cluster.world.now = cluster.world.now + base::seconds(602);
  cluster.settle();
  EXPECT_EQ(cluster.progress(), "ProgressDeadlineExceeded");
  EXPECT_EQ(condition_of(cluster.seen()["status"], "Progressing")["status"].as_string(), "False");
  cluster.roll_out();
  EXPECT_EQ(cluster.progress(), "NewReplicaSetAvailable") << "late, but there";
}

TEST(Deployment, scaled_during_a_rollout_both_sets_get_their_part) {
  Cluster cluster;
  cluster.world.put(kDeployments, deployment(10));
  cluster.roll_out();
  cluster.set_image("two");
  cluster.settle();
  cluster.world.edit(kDeployments, kKey)->edit("spec").set("replicas", 20);
  cluster.changed();
  cluster.settle();
  std::vector<std::int64_t> counts;
  for (const Json* set : cluster.world.all(resources::kReplicaSets))
    counts.push_back((*set)["spec"]["replicas"].as_int());
  std::ranges::sort(counts);
  EXPECT_EQ(counts.size(), 2U);
  EXPECT_EQ(counts[0] + counts[1], 25);
  EXPECT_GE(counts[0], 9) << "five of thirteen before, ten of twenty-five now";
  cluster.roll_out();
  EXPECT_EQ(cluster.seen()["status"]["updatedReplicas"].as_int(), 20);
}

TEST(Deployment, comes_to_its_template_whatever_fails) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Cluster cluster;
    cluster.world.dice = base::Random(seed);
    bool faults = true;
    cluster.world.refuse = [&](const Action&) -> std::optional<base::Error> {
      if (!faults || !cluster.world.dice.chance(0.2)) return std::nullopt;
      return base::make_error(cluster.world.dice.chance(0.5) ? base::Code::kConflict : base::Code::kForbidden,
                              "a fault");
    };
    cluster.world.put(kDeployments, deployment(3));
    const char* images[] = {"one", "two", "three"};
    for (int round = 0; round < 60; ++round) {
      cluster.look();
      if (cluster.world.dice.chance(0.5)) cluster.make_ready(1);
      if (cluster.world.dice.chance(0.1)) cluster.set_image(images[cluster.world.dice.below(3)]);
      if (cluster.world.dice.chance(0.1)) {
        cluster.world.edit(kDeployments, kKey)
            ->edit("spec")
            .set("replicas", static_cast<int>(1 + cluster.world.dice.below(5)));
        cluster.changed();
      }
      cluster.world.now = cluster.world.now + base::seconds(2);
    }
    faults = false;
    cluster.roll_out();
    EXPECT_FALSE(cluster.look()) << seed;
    const Json& spec = cluster.seen()["spec"];
    EXPECT_EQ(cluster.seen()["status"]["updatedReplicas"].as_int(), spec["replicas"].as_int()) << seed;
    EXPECT_EQ(static_cast<std::int64_t>(cluster.pods()), spec["replicas"].as_int()) << seed;
    EXPECT_EQ(cluster.progress(), "NewReplicaSetAvailable") << seed;
  }
}

}  // namespace
}  // namespace controllers::workloads
