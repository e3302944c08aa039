// TensorBoards and viewers against the specification (kubeflow.md 3), line by line.
#include <gtest/gtest.h>

#include "api/kubeflow/v1alpha1/pvcviewer.h"
#include "api/kubeflow/v1alpha1/tensorboard.h"
#include "base/format.h"
#include "controllers/framework/trial_for_tests.h"
#include "controllers/notebooks/pvcviewer.h"
#include "controllers/notebooks/tensorboard.h"
#include "controllers/workloads/pods.h"

namespace controllers::notebooks {
namespace {

using api::Json;
namespace resources = api::resources;

Json board_of(std::string_view path) {
  return *api::parse_json(base::format(R"({{"apiVersion": "tensorboard.kubeflow.org/v1alpha1", "kind": "Tensorboard",
      "metadata": {{"name": "tb", "namespace": "ns", "uid": "t", "labels": {{"a": "b", "app": "x"}}}},
      "spec": {{"logspath": "{}"}}}})",
                                       path));
}

TEST(Tensorboard, the_place_of_logs_decides_about_volumes) {
  struct Row {
    const char* path;
    const char* volumes;
    const char* mounts;
    const char* argument;
  };
  const Row rows[] = {
      {"pvc://c/a/b", R"([{"name":"tbpd","persistentVolumeClaim":{"claimName":"c"}}])",
       R"([{"name":"tbpd","readOnly":true,"mountPath":"/tensorboard_logs/","subPath":"a/b"}])", "/tensorboard_logs/"},
      {"pvc://c", R"([{"name":"tbpd","persistentVolumeClaim":{"claimName":"c"}}])",
       R"([{"name":"tbpd","readOnly":true,"mountPath":"/tensorboard_logs/"}])", "/tensorboard_logs/"},
      {"pvc://c/", R"([{"name":"tbpd","persistentVolumeClaim":{"claimName":"c"}}])",
       R"([{"name":"tbpd","readOnly":true,"mountPath":"/tensorboard_logs/"}])", "/tensorboard_logs/"},
      {"gs://bucket/x", R"([{"name":"gcp-creds","secret":{"secretName":"user-gcp-sa"}}])",
       R"([{"name":"gcp-creds","readOnly":true,"mountPath":"/secret/gcp"}])", "gs://bucket/x"},
      {"s3://bucket/x", "[]", "[]", "s3://bucket/x"},
      {"/cns/x", "[]", "[]", "/cns/x"},
      {"/logs", R"([{"name":"tbpd","persistentVolumeClaim":{"claimName":"tb-volume"}}])",
       R"([{"name":"tbpd","readOnly":true,"mountPath":"/logs"}])", "/logs"}};
  for (const Row& row : rows) {
    TestWorld world;
    auto controller = make_tensorboard_controller({.tensorboard_image = "image"});
    world.use_indexes_of(*controller);
    world.put(resources::kTensorboards, board_of(row.path));
    for (int i = 0; i < 4; ++i) world.turn(*controller, "ns/tb");
    const Json& spec = (*world.find(workloads::kDeployments, "ns/tb"))["spec"];
    const Json& pod = spec["template"]["spec"];
    const Json& container = pod["containers"][std::size_t{0}];
    EXPECT_EQ(pod["volumes"].dump(), row.volumes) << row.path;
    EXPECT_EQ(container["volumeMounts"].dump(), row.mounts) << row.path;
    EXPECT_EQ(container["args"].dump(), base::format(R"(["--logdir={}","--bind_all"])", row.argument));
    EXPECT_EQ(container["command"].dump(), R"(["/usr/local/bin/tensorboard"])");
    EXPECT_EQ(container["image"].as_string(), "image");
    EXPECT_EQ(spec["selector"].dump(), R"({"matchLabels":{"app":"tb"}})");
    EXPECT_EQ(spec["template"]["metadata"]["labels"].dump(), R"({"a":"b","app":"tb"})");
    EXPECT_EQ((*world.find(resources::kServices, "ns/tb"))["spec"]["ports"].dump(),
              R"([{"name":"http-tb","port":80,"protocol":"TCP","targetPort":6006}])");
    EXPECT_EQ(world.turn(*controller, "ns/tb"), "");
  }
}

TEST(Tensorboard, pods_of_its_namespace_reach_it_where_it_is_to_be_isolated) {
  TestWorld world;
  auto controller = make_tensorboard_controller({.isolates = true});
  world.use_indexes_of(*controller);
  world.put(resources::kTensorboards, board_of("pvc://c"));
  for (int i = 0; i < 4; ++i) world.turn(*controller, "ns/tb");
  const Json* policy = world.find(resources::kNetworkPolicies, "ns/tensorboard-tb");
  ASSERT_NE(policy, nullptr);
  EXPECT_EQ((*policy)["spec"]["podSelector"].dump(), R"({"matchLabels":{"app":"tb"}})");
  EXPECT_EQ(world.turn(*controller, "ns/tb"), "");
}

TEST(Tensorboard, no_place_is_said_and_conditions_are_appended) {
  TestWorld world;
  auto controller = make_tensorboard_controller({});
  world.use_indexes_of(*controller);
  world.put(resources::kTensorboards, board_of("pvc:///x"));
  for (int i = 0; i < 3; ++i) world.turn(*controller, "ns/tb");
  ASSERT_EQ(world.events.size(), 1U);
  EXPECT_EQ(world.events.front(), R"(Refused: spec.logspath: "pvc:///x" names no place)");
  world.put(resources::kTensorboards, board_of("pvc://c"));
  for (int i = 0; i < 3; ++i) world.turn(*controller, "ns/tb");
  for (const char* type : {"Progressing", "Progressing", "Available"}) {
    Json* deployment = world.edit(workloads::kDeployments, "ns/tb");
    deployment->set(
        "status",
        Json::object({{"readyReplicas", 1},
                      {"conditions", Json::array({Json::object({{"type", type}, {"lastUpdateTime", "t"}})})}}));
    for (int i = 0; i < 3; ++i) world.turn(*controller, "ns/tb");
  }
  EXPECT_EQ((*world.find(resources::kTensorboards, "ns/tb"))["status"].dump(),
            R"({"conditions":[{"deploymentState":"Progressing","lastProbeTime":"t"},)"
            R"({"deploymentState":"Available","lastProbeTime":"t"}],"readyReplicas":1})");
}

TEST(Tensorboard, a_claim_for_one_node_draws_it_there) {
  TestWorld world;
  auto controller = make_tensorboard_controller({.rwo_scheduling = true});
  world.use_indexes_of(*controller);
  world.put(resources::kTensorboards, board_of("pvc://c"));
  world.put_text(resources::kPersistentVolumeClaims, R"({"kind": "PersistentVolumeClaim", "metadata": {"name": "c",
      "namespace": "ns"}, "status": {"accessModes": ["ReadWriteOnce"]}})");
  world.put_text(resources::kPods,
                 R"({"kind": "Pod", "metadata": {"name": "p", "namespace": "ns"}, "spec": {"nodeName": "n2",
      "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]}, "status": {"phase": "Running"}})");
  for (int i = 0; i < 3; ++i) world.turn(*controller, "ns/tb");
  const auto affinity = [&] {
    return (*world.find(workloads::kDeployments, "ns/tb"))["spec"]["template"]["spec"]["affinity"].dump();
  };
  const std::string to_node =
      R"({"nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":100,"preference":)"
      R"({"matchExpressions":[{"key":"kubernetes.io/hostname","operator":"In","values":["n2"]}]}}]}})";
  EXPECT_EQ(affinity(), to_node);
  world.erase(resources::kPods, "ns/p");
  for (int i = 0; i < 3; ++i) world.turn(*controller, "ns/tb");
  EXPECT_EQ(affinity(), to_node) << "it is not started again for that";
}

Json viewer_of(std::string_view spec) {
  return *api::parse_json(base::format(R"({{"apiVersion": "kubeflow.org/v1alpha1", "kind": "PVCViewer",
      "metadata": {{"name": "v", "namespace": "ns", "uid": "u"}}, "spec": {}}})",
                                       spec));
}

TEST(PvcViewer, a_file_browser_shows_the_claim) {
  TestWorld world;
  auto controller = make_pvcviewer_controller({.isolates = true});
  world.use_indexes_of(*controller);
  world.put(resources::kPvcViewers, viewer_of(R"({"pvc": "c", "networking": {"basePrefix": "/pvcviewer"}})"));
  for (int i = 0; i < 4; ++i) world.turn(*controller, "ns/v");
  EXPECT_EQ((*world.find(resources::kNetworkPolicies, "ns/pvcviewer-v"))["spec"]["podSelector"]["matchLabels"],
            (*world.find(workloads::kDeployments, "ns/pvcviewer-v"))["spec"]["selector"]["matchLabels"]);
  const Json& spec = (*world.find(workloads::kDeployments, "ns/pvcviewer-v"))["spec"];
  EXPECT_EQ(spec["strategy"].dump(), R"({"type":"Recreate"})");
  EXPECT_EQ(
      spec["selector"]["matchLabels"].dump(),
      R"({"app.kubernetes.io/name":"v","app.kubernetes.io/instance":"pvcviewer-v","app.kubernetes.io/part-of":"pvc-viewer"})");
  EXPECT_EQ(spec["template"]["spec"]["volumes"].dump(),
            R"([{"name":"viewer-volume","persistentVolumeClaim":{"claimName":"c"}}])");
  EXPECT_EQ(spec["template"]["spec"]["containers"][std::size_t{0}]["env"][std::size_t{4}].dump(),
            R"({"name":"FB_BASEURL","value":"/pvcviewer/ns/v/"})");
  EXPECT_EQ((*world.find(resources::kServices, "ns/pvcviewer-v"))["spec"]["ports"].dump(),
            R"([{"name":"http","port":80,"protocol":"TCP","targetPort":8080}])");
  EXPECT_EQ((*world.find(resources::kPvcViewers, "ns/v"))["status"].dump(),
            R"({"ready":false,"url":"/pvcviewer/ns/v/","conditions":[]})");
  EXPECT_EQ(world.turn(*controller, "ns/v"), "");
}

TEST(PvcViewer, is_reached_only_if_it_is_asked_for_and_has_its_claim) {
  TestWorld world;
  auto controller = make_pvcviewer_controller({});
  world.use_indexes_of(*controller);
  world.put(resources::kPvcViewers, viewer_of(R"({"pvc": "c"})"));
  for (int i = 0; i < 3; ++i) world.turn(*controller, "ns/v");
  EXPECT_NE(world.find(workloads::kDeployments, "ns/pvcviewer-v"), nullptr);
  EXPECT_TRUE(world.all(resources::kServices).empty());
  TestWorld other;
  auto second = make_pvcviewer_controller({});
  other.use_indexes_of(*second);
  other.put(resources::kPvcViewers,
            viewer_of(R"({"pvc": "c", "podSpec": {"containers": [{"name": "a", "image": "i"}]}})"));
  for (int i = 0; i < 3; ++i) other.turn(*second, "ns/v");
  EXPECT_TRUE(other.all(workloads::kDeployments).empty());
  ASSERT_EQ(other.events.size(), 1U);
  EXPECT_EQ(other.events.front(), "Refused: spec.podSpec.volumes: claim c must be one of them");
}

TEST(Servers, come_to_rest_whatever_fails) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Trial boards(seed, [] { return make_tensorboard_controller({}); });
    boards.world.put(resources::kTensorboards, board_of("pvc://c"));
    Trial viewers(seed, [] { return make_pvcviewer_controller({}); });
    viewers.world.put(resources::kPvcViewers, viewer_of(R"({"pvc": "c"})"));
    for (int round = 0; round < 20; ++round) {
      boards.look("ns/tb");
      viewers.look("ns/v");
    }
    EXPECT_TRUE(boards.comes_to_rest("ns/tb")) << seed;
    EXPECT_TRUE(viewers.comes_to_rest("ns/v")) << seed;
  }
}

}  // namespace
}  // namespace controllers::notebooks
