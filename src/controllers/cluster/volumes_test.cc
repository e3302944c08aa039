// Which volume a claim gets, and what becomes of a volume without its claim.
#include <gtest/gtest.h>

#include "base/format.h"
#include "controllers/cluster/cluster.h"
#include "controllers/cluster/stage_for_tests.h"

namespace controllers::cluster {
namespace {

using api::Json;
namespace resources = api::resources;

TEST(Volumes, a_claim_waits_for_its_first_pod_and_then_gets_a_folder) {
  Stage stage(make_volume_controller({.folder = "/tmp/volumes-that-are-not-made", .node_name = "n"}));
  EXPECT_EQ(stage.turn("class|local-path"), "create StorageClass local-path\ncreate StorageClass standard\n");
  stage.world.put_text(resources::kPersistentVolumeClaims, R"({"apiVersion": "v1", "kind": "PersistentVolumeClaim",
    "metadata": {"name": "data", "namespace": "ns", "uid": "D"},
    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}})");
  EXPECT_EQ(stage.turn("claim|ns/data"),
            "status PersistentVolumeClaim ns/data {\"phase\":\"Pending\"}\nevent PersistentVolumeClaim ns/data Normal "
            "WaitForFirstConsumer: waiting for first consumer to be created before binding\n");
  EXPECT_EQ(stage.turn("claim|ns/data"), "");
  stage.world.put_text(resources::kPods, R"({"kind": "Pod", "metadata": {"name": "p", "namespace": "ns"},
    "spec": {"nodeName": "n", "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]}})");
  EXPECT_EQ(stage.turn("claim|ns/data"), "create PersistentVolume pvc-D\n");
  stage.turn("claim|ns/data");
  const Json claim = *stage.world.find(resources::kPersistentVolumeClaims, "ns/data");
  EXPECT_EQ(claim["status"]["phase"].as_string(), "Bound");
  EXPECT_EQ(claim["spec"]["volumeName"].as_string(), "pvc-D");
  EXPECT_EQ(stage.turn("claim|ns/data"), "");
  EXPECT_EQ((*stage.world.find(resources::kPersistentVolumes, "pvc-D"))["spec"]["hostPath"]["path"].as_string(),
            "/tmp/volumes-that-are-not-made/pvc-D");
  stage.world.erase(resources::kPersistentVolumeClaims, "ns/data");
  EXPECT_EQ(stage.turn("volume|pvc-D"),  // the pod still holds it
            "require-gone PersistentVolumeClaim ns/data\n--\nstatus PersistentVolume pvc-D {\"phase\":\"Released\"}\n");
  stage.world.erase(resources::kPods, "ns/p");
  EXPECT_EQ(stage.turn("volume|pvc-D"),
            "require-gone PersistentVolumeClaim ns/data\n--\nremove-tree  "
            "/tmp/volumes-that-are-not-made/pvc-D\n--\ndelete PersistentVolume pvc-D\n");
}

// In the words of Kubernetes' own controller, once each.
TEST(Volumes, a_claim_says_what_it_waits_for) {
  Stage stage(make_volume_controller({"/data"}));
  stage.world.put_text(resources::kStorageClasses, R"({"metadata": {"name": "far"}, "provisioner": "example.com/nobody",
    "volumeBindingMode": "WaitForFirstConsumer"})");
  const auto reported = [&stage](std::string_view spec, std::string_view annotations = "{}") {
    stage.world.put_text(
        resources::kPersistentVolumeClaims,
        base::format(R"({{"kind": "PersistentVolumeClaim", "metadata": {{"name": "c", "namespace": "ns",
      "uid": "C", "annotations": {}}}, "spec": {}, "status": {{"phase": "Pending"}}}})",
                     annotations, spec));
    const std::string plan = stage.turn("claim|ns/c");
    EXPECT_EQ(stage.turn("claim|ns/c"), "");
    return plan;
  };
  constexpr std::string_view kFar = R"({"storageClassName": "far"})";
  EXPECT_NE(reported(kFar).find("WaitForFirstConsumer: waiting for first consumer"), std::string::npos);
  stage.world.put_text(resources::kPods, R"({"kind": "Pod", "metadata": {"name": "p", "namespace": "ns"},
    "spec": {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]}})");
  EXPECT_NE(reported(kFar).find("WaitForPodScheduled: waiting for its pod to be scheduled"), std::string::npos);
  EXPECT_NE(reported(kFar, R"({"volume.kubernetes.io/selected-node": "n"})")
                .find("ExternalProvisioning: Waiting for a volume to be created either by the external provisioner "
                      "'example.com/nobody'"),
            std::string::npos);
  EXPECT_NE(reported(R"({"storageClassName": "none"})")
                .find("Warning ProvisioningFailed: storageclass.storage.k8s.io \"none\" not found"),
            std::string::npos);
  EXPECT_NE(reported(R"({"storageClassName": ""})").find("FailedBinding: no persistent volumes available"),
            std::string::npos);
}

TEST(Volumes, one_that_is_made_for_a_claim_wakes_no_other) {
  Stage stage(make_volume_controller({"/data"}));
  for (const char* name : {"a", "b"})
    stage.world.put_text(resources::kPersistentVolumeClaims,
                         base::format(R"({{"metadata": {{"name": "{0}", "namespace": "ns", "uid": "{0}"}}}})", name));
  const Wake wake = stage.controller->wakes_on()[1];
  const Json made =
      *api::parse_json(R"({"metadata": {"name": "v"}, "spec": {"claimRef": {"namespace": "ns", "name": "a"}}})");
  EXPECT_EQ(wake.keys(stage.world, made), (Keys{"volume|v", "claim|ns/a"}));
  const Json free = *api::parse_json(R"({"metadata": {"name": "v"}, "spec": {}})");
  EXPECT_EQ(wake.keys(stage.world, free), (Keys{"claim|ns/a", "claim|ns/b", "volume|v"}));
}

TEST(Volumes, a_claim_takes_the_smallest_volume_that_fits) {
  Stage stage(make_volume_controller({}));
  for (const auto& [name, size] : {std::pair{"big", "10Gi"}, {"small", "2Gi"}, {"tiny", "1Mi"}})
    stage.world.put(
        resources::kPersistentVolumes,
        *api::parse_json(base::format(
            R"({{"kind": "PersistentVolume", "metadata": {{"name": "{}"}}, "spec": {{"storageClassName": "", "accessModes":
             ["ReadWriteOnce"], "capacity": {{"storage": "{}"}}, "persistentVolumeReclaimPolicy": "Retain"}}}})",
            name, size)));
  stage.world.put_text(resources::kPersistentVolumeClaims, R"({"kind": "PersistentVolumeClaim",
    "metadata": {"name": "data", "namespace": "ns", "uid": "D"}, "spec": {"storageClassName": "",
     "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}})");
  stage.turn("claim|ns/data");
  EXPECT_EQ((*stage.world.find(resources::kPersistentVolumeClaims, "ns/data"))["spec"]["volumeName"].as_string(),
            "small");
  stage.world.erase(resources::kPersistentVolumeClaims, "ns/data");
  stage.turn("volume|small");
  EXPECT_EQ((*stage.world.find(resources::kPersistentVolumes, "small"))["status"]["phase"].as_string(), "Released");
}

TEST(Volumes, a_claim_takes_only_what_it_asks_for) {
  struct Row {
    const char* what;
    const char* claim;
    const char* volume;  // where it binds to; empty: nowhere
    const char* event;
  };
  const Row rows[] = {
      {"any", R"({"storageClassName": "manual"})", "slow", ""},
      {"selector", R"({"storageClassName": "manual", "selector": {"matchLabels": {"disk": "fast"}}})", "fast", ""},
      {"no such", R"({"storageClassName": "manual", "selector": {"matchLabels": {"disk": "new"}}})", "", ""},
      {"block", R"({"storageClassName": "manual", "volumeMode": "Block"})", "", ""},
      {"named", R"({"storageClassName": "manual", "volumeName": "fast"})", "fast", ""},
      {"small",
       R"({"storageClassName": "manual", "volumeName": "fast", "resources": {"requests": {"storage": "9Gi"}}})", "",
       R"(Cannot bind to requested volume "fast": requested PV is too small)"},
      {"class", R"({"storageClassName": "other", "volumeName": "fast"})", "",
       R"(Cannot bind to requested volume "fast": storageClassName does not match)"},
      {"mode", R"({"storageClassName": "manual", "volumeName": "fast", "accessModes": ["ReadWriteMany"]})", "",
       R"(Cannot bind to requested volume "fast": incompatible accessMode)"}};
  for (const Row& row : rows) {
    Stage stage(make_volume_controller({}));
    for (const auto& [name, size] : {std::pair{"fast", "2Gi"}, {"slow", "1Gi"}})
      stage.world.put_text(
          resources::kPersistentVolumes,
          base::format(
              R"({{"kind": "PersistentVolume", "metadata": {{"name": "{0}", "labels": {{"disk": "{0}"}}}}, "spec":
           {{"storageClassName": "manual", "accessModes": ["ReadWriteOnce"], "capacity": {{"storage": "{1}"}}}}}})",
              name, size));
    Json claim = *api::parse_json(R"({"kind": "PersistentVolumeClaim", "metadata": {"name": "data", "namespace": "ns",
        "uid": "D"}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}})");
    merge_patch(claim, Json::object({{"spec", *api::parse_json(row.claim)}}));
    stage.world.put(resources::kPersistentVolumeClaims, claim);
    const std::string plan = stage.turn("claim|ns/data");
    const Json* after = stage.world.find(resources::kPersistentVolumeClaims, "ns/data");
    const bool bound = (*after)["status"]["phase"].as_string() == "Bound";
    EXPECT_EQ(bound ? (*after)["spec"]["volumeName"].as_string() : "", row.volume) << row.what;
    EXPECT_NE(plan.find(row.event), std::string::npos) << row.what << plan;
  }
}

TEST(Volumes, a_claim_of_a_block_device_gets_no_folder) {
  Stage stage(make_volume_controller({"/data"}));
  stage.world.put_text(resources::kStorageClasses,
                       R"({"metadata": {"name": "here"}, "provisioner": "volcano.sh/local-path"})");
  stage.world.put_text(resources::kPersistentVolumeClaims,
                       R"({"kind": "PersistentVolumeClaim", "metadata": {"name": "c", "namespace": "ns", "uid": "C"},
    "spec": {"storageClassName": "here", "volumeMode": "Block"}, "status": {"phase": "Pending"}})");
  EXPECT_EQ(stage.turn("claim|ns/c"),
            "event PersistentVolumeClaim ns/c Warning ProvisioningFailed: spec.volumeMode: Block is not supported: "
            "volumes of this class are folders\n");
}

TEST(Volumes, of_a_claim_that_was_made_anew_go_though_pods_use_the_new_one) {
  Stage stage(make_volume_controller({.folder = "/tmp/volumes-that-are-not-made", .node_name = "n"}));
  stage.world.put_text(resources::kPersistentVolumes, R"({"kind": "PersistentVolume", "metadata": {"name": "pvc-D",
    "annotations": {"pv.kubernetes.io/provisioned-by": "volcano.sh/local-path"}}, "status": {"phase": "Bound"}, "spec":
    {"persistentVolumeReclaimPolicy": "Delete", "claimRef": {"namespace": "ns", "name": "data", "uid": "D"}}})");
  stage.world.put_text(resources::kPersistentVolumeClaims,
                       R"({"metadata": {"name": "data", "namespace": "ns", "uid": "E"}, "spec": {}})");
  stage.world.put_text(resources::kPods, R"({"kind": "Pod", "metadata": {"name": "p", "namespace": "ns"},
    "spec": {"nodeName": "n", "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]}})");
  EXPECT_NE(stage.turn("volume|pvc-D").find("delete PersistentVolume pvc-D"), std::string::npos);
}

TEST(EphemeralVolumes, get_a_claim_that_goes_with_their_pod) {
  Stage stage(make_ephemeral_volume_controller());
  stage.world.put_text(resources::kPods, R"({"kind": "Pod", "metadata": {"name": "p", "namespace": "ns", "uid": "P"},
    "spec": {"volumes": [{"name": "v", "ephemeral": {"volumeClaimTemplate": {"metadata": {"labels": {"a": "b"}},
      "spec": {"accessModes": ["ReadWriteOnce"]}}}}, {"name": "w", "emptyDir": {}}]}})");
  EXPECT_EQ(stage.turn("ns/p"), "create PersistentVolumeClaim ns/p-v\n");
  const Json claim = *stage.world.find(resources::kPersistentVolumeClaims, "ns/p-v");
  EXPECT_EQ(api::controller_of(claim)["uid"].as_string(), "P");
  EXPECT_EQ(api::label_of(claim, "a"), "b");
  EXPECT_EQ(claim["spec"].dump(), R"({"accessModes":["ReadWriteOnce"]})");
  EXPECT_EQ(stage.turn("ns/p"), "");
  stage.world.put_text(resources::kPersistentVolumeClaims, R"({"metadata": {"name": "p-v", "namespace": "ns"}})");
  EXPECT_NE(stage.turn("ns/p").find("PVC ns/p-v was not made for this pod"), std::string::npos);
}

TEST(Volumes, that_nobody_has_are_available) {
  Stage stage(make_volume_controller({}));
  stage.world.put_text(resources::kPersistentVolumes,
                       R"({"kind": "PersistentVolume", "metadata": {"name": "v"}, "spec": {}})");
  EXPECT_EQ(stage.turn("volume|v"), "status PersistentVolume v {\"phase\":\"Available\"}\n");
  EXPECT_EQ(stage.turn("volume|v"), "");
}

}  // namespace
}  // namespace controllers::cluster
