// Which claims and volumes are kept, and until when.
#include "controllers/cluster/protection.h"

#include <gtest/gtest.h>

#include "base/format.h"
#include "controllers/framework/world_for_tests.h"

namespace controllers::cluster {
namespace {

using api::Json;
namespace resources = api::resources;

constexpr const char* kProtected = R"("finalizers": ["example.com/other", "kubernetes.io/pvc-protection"])";
constexpr const char* kDeleting = R"("deletionTimestamp": "2026-01-01T00:00:00Z")";

struct Stage {
  explicit Stage(std::unique_ptr<Controller> c) : controller(std::move(c)) { world.use_indexes_of(*controller); }
  void claim(const std::string& metadata) {
    world.put(
        resources::kPersistentVolumeClaims,
        *api::parse_json(base::format(
            R"({{"kind": "PersistentVolumeClaim", "metadata": {{"name": "c", "namespace": "ns", {}}}}})", metadata)));
  }
  void pod(const std::string& node, const std::string& volume) {
    world.put(resources::kPods, *api::parse_json(base::format(
                                    R"({{"kind": "Pod", "metadata": {{"name": "p", "namespace": "ns", "uid": "P"}},
                                         "spec": {{"nodeName": "{}", "volumes": [{{"name": "v", {}}}]}}}})",
                                    node, volume)));
  }
  std::string left() {
    world.turn(*controller, "ns/c");
    const Json* found = world.find(resources::kPersistentVolumeClaims, "ns/c");
    return found == nullptr ? "" : (*found)["metadata"]["finalizers"].dump();
  }
  TestWorld world;
  std::unique_ptr<Controller> controller;
};

constexpr const char* kNamed = R"("persistentVolumeClaim": {"claimName": "c"})";
constexpr const char* kBoth = R"(["example.com/other","kubernetes.io/pvc-protection"])";
constexpr const char* kOther = R"(["example.com/other"])";

TEST(ClaimProtection, keeps_what_pods_use) {
  const struct {
    const char* what;
    std::string metadata, node, volume;
    const char* left;
  } rows[] = {
      {"in use", base::format("{}, {}", kProtected, kDeleting), "n", kNamed, kBoth},
      {"a pod without a node", base::format("{}, {}", kProtected, kDeleting), "", kNamed, kOther},
      {"another claim", base::format("{}, {}", kProtected, kDeleting), "n",
       R"("persistentVolumeClaim": {"claimName": "d"})", kOther},
      {"not deleted", kProtected, "n", kNamed, kBoth},
      {"not deleted, made before", R"("uid": "C")", "n", kNamed, R"(["kubernetes.io/pvc-protection"])"},
      {"deleted without it", base::format(R"("finalizers": ["example.com/other"], {})", kDeleting), "n", kNamed,
       kOther},
  };
  for (const auto& row : rows) {
    Stage stage(make_claim_protection());
    stage.claim(row.metadata);
    stage.pod(row.node, row.volume);
    EXPECT_EQ(stage.left(), row.left) << row.what;
  }
}

TEST(ClaimProtection, lets_go_when_the_pod_is_gone) {
  Stage stage(make_claim_protection());
  stage.claim(base::format("{}, {}", kProtected, kDeleting));
  stage.pod("n", kNamed);
  EXPECT_EQ(stage.left(), kBoth);
  stage.world.erase(resources::kPods, "ns/p");
  EXPECT_EQ(stage.left(), kOther);
  EXPECT_EQ(stage.left(), kOther);
}

TEST(ClaimProtection, knows_claims_that_were_made_for_one_pod) {
  for (const auto& [owner, left] : {std::pair{"P", R"(["kubernetes.io/pvc-protection"])"}, {"Q", "[]"}}) {
    Stage stage(make_claim_protection());
    stage.world.put(resources::kPersistentVolumeClaims,
                    *api::parse_json(base::format(
                        R"({{"kind": "PersistentVolumeClaim", "metadata": {{"name": "p-v", "namespace": "ns", {},
                             "finalizers": ["kubernetes.io/pvc-protection"],
                             "ownerReferences": [{{"kind": "Pod", "name": "p", "uid": "{}", "controller": true}}]}}}})",
                        kDeleting, owner)));
    stage.pod("n", R"("ephemeral": {})");
    const Plan plan = stage.controller->step(stage.world, "ns/p-v", {.now = stage.world.now});
    EXPECT_EQ(writes_nothing(plan), std::string(left) != "[]") << owner;
  }
}

TEST(VolumeProtection, keeps_what_a_claim_is_bound_to) {
  for (const auto& [phase, kept] : {std::pair{"Bound", true}, {"Released", false}, {"Available", false}, {"", false}}) {
    Stage stage(make_volume_protection());
    stage.world.put(resources::kPersistentVolumes,
                    *api::parse_json(base::format(R"({{"kind": "PersistentVolume", "metadata": {{"name": "v", {},
                        "finalizers": ["kubernetes.io/pv-protection"]}}, "status": {{"phase": "{}"}}}})",
                                                  kDeleting, phase)));
    const Plan plan = stage.controller->step(stage.world, "v", {.now = stage.world.now});
    EXPECT_EQ(writes_nothing(plan), kept) << phase;
  }
}

}  // namespace
}  // namespace controllers::cluster
