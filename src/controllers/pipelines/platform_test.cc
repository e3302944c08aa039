// The platform part of a document, resources and pipeline configuration, and the pod that they make of a step.
#include "controllers/pipelines/platform.h"

#include <gtest/gtest.h>

#include "api/pipelines/v2beta1/pipeline_run.h"
#include "base/format.h"
#include "controllers/pipelines/trial_for_tests.h"

namespace controllers::pipelines {
namespace {

using api::Json;
namespace resources = api::resources;

Json parse(std::string_view text) {
  auto parsed = api::parse_json(text);
  EXPECT_TRUE(parsed.ok()) << text;
  return parsed.ok() ? *parsed : Json();
}

struct Feature {
  const char* parts;  // of the executor
  const char* place;  // in the pod: metadata, spec or container
  const char* made;
};

// The pod of a step with this platform configuration: {metadata, spec, container}, or the error.
Json pod_with(std::string_view parts) {
  Json metadata = Json::object(), spec = Json::object(), container = Json::object();
  const base::Status added = add_platform(parse(parts),
                                          [](const Json& source) -> std::optional<Json> {
                                            if (source["runtimeValue"].has("constant"))
                                              return source["runtimeValue"]["constant"];
                                            if (source["componentInputParameter"].as_string() == "name")
                                              return Json("from-input");
                                            if (source["componentInputParameter"].as_string() == "json")
                                              return parse(R"({"key": "k", "operator": "Exists"})");
                                            if (source["taskOutputParameter"]["producerTask"].as_string() == "maker")
                                              return Json("from-task");
                                            return std::nullopt;
                                          },
                                          {metadata, spec, container});
  if (!added.ok()) return Json(added.error().message);
  return Json::object({{"metadata", metadata}, {"spec", spec}, {"container", container}});
}

TEST(Platform, EachFieldHasItsPlaceInThePod) {
  const Feature features[] = {
      {R"({"pvcMount": [{"constant": "c", "mountPath": "/d", "subPath": "s"}]})", "container",
       R"({"volumeMounts": [{"name": "kfp-0", "mountPath": "/d", "subPath": "s"}]})"},
      {R"({"pvcMount": [{"constant": "c", "mountPath": "/d"}, {"pvcNameParameter": {"runtimeValue": {"constant": "c"}},
           "mountPath": "/e"}]})",
       "spec", R"({"volumes": [{"name": "kfp-0", "persistentVolumeClaim": {"claimName": "c"}}]})"},
      {R"({"pvcMount": [{"taskOutputParameter": {"producerTask": "maker", "outputParameterKey": "name"},
           "mountPath": "/d"}]})",
       "spec", R"({"volumes": [{"name": "kfp-0", "persistentVolumeClaim": {"claimName": "from-task"}}]})"},
      {R"({"pvcMount": [{"componentInputParameter": "name", "mountPath": "/d"}]})", "spec",
       R"({"volumes": [{"name": "kfp-0", "persistentVolumeClaim": {"claimName": "from-input"}}]})"},
      {R"({"secretAsVolume": [{"secretName": "s", "mountPath": "/s", "optional": true}]})", "spec",
       R"({"volumes": [{"name": "kfp-0", "secret": {"secretName": "s", "optional": true}}]})"},
      {R"({"configMapAsVolume": [{"configMapNameParameter": {"componentInputParameter": "name"}, "mountPath": "/s"}]})",
       "spec", R"({"volumes": [{"name": "kfp-0", "configMap": {"name": "from-input"}}]})"},
      {R"({"secretAsEnv": [{"secretName": "s", "keyToEnv": [{"secretKey": "k", "envVar": "V"}]}]})", "container",
       R"({"env": [{"name": "V", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}]})"},
      {R"({"configMapAsEnv": [{"configMapName": "c", "optional": true,
           "keyToEnv": [{"configMapKey": "k", "envVar": "V"}]}]})",
       "container",
       R"({"env": [{"name": "V", "valueFrom": {"configMapKeyRef": {"name": "c", "key": "k", "optional": true}}}]})"},
      {R"({"fieldPathAsEnv": [{"name": "N", "fieldPath": "spec.nodeName"}]})", "container",
       R"({"env": [{"name": "N", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}]})"},
      {R"({"emptyDirMounts": [{"volumeName": "e", "mountPath": "/e", "medium": "Memory", "sizeLimit": "1Gi"}]})",
       "spec", R"({"volumes": [{"name": "e", "emptyDir": {"medium": "Memory", "sizeLimit": "1Gi"}}]})"},
      {R"({"enabledSharedMemory": {"volumeName": "shm", "size": "64Mi"}})", "container",
       R"({"volumeMounts": [{"name": "shm", "mountPath": "/dev/shm"}]})"},
      {R"({"genericEphemeralVolume": [{"volumeName": "v", "mountPath": "/v", "accessModes": ["ReadWriteOnce"],
           "size": "1Gi", "storageClassName": "fast"}]})",
       "spec",
       R"({"volumes": [{"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": {"accessModes": ["ReadWriteOnce"],
           "resources": {"requests": {"storage": "1Gi"}}, "storageClassName": "fast"}}}}]})"},
      {R"({"podMetadata": {"labels": {"a": "b"}, "annotations": {"c": "d"}}})", "metadata",
       R"({"labels": {"a": "b"}, "annotations": {"c": "d"}})"},
      {R"({"nodeSelector": {"labels": {"a": "b"}}})", "spec", R"({"nodeSelector": {"a": "b"}})"},
      {R"({"nodeSelector": {"nodeSelectorJson": {"runtimeValue": {"constant": {"a": "b"}}}}})", "spec",
       R"({"nodeSelector": {"a": "b"}})"},
      {R"({"tolerations": [{"key": "k", "operator": "Exists", "tolerationSeconds": "5"}]})", "spec",
       R"({"tolerations": [{"key": "k", "operator": "Exists", "tolerationSeconds": 5}]})"},
      {R"({"tolerations": [{"tolerationJson": {"componentInputParameter": "json"}}]})", "spec",
       R"({"tolerations": [{"key": "k", "operator": "Exists"}]})"},
      {R"({"nodeAffinity": [{"matchExpressions": [{"key": "z", "operator": "In", "values": ["a"]}], "weight": 5.0}]})",
       "spec", R"({"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 5,
           "preference": {"matchExpressions": [{"key": "z", "operator": "In", "values": ["a"]}]}}]}}})"},
      {R"({"nodeAffinity": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}]}]})", "spec",
       R"({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
           {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}]}]}}}})"},
      {R"({"podAffinity": [{"matchPodLabels": {"a": "b"}, "topologyKey": "t", "anti": true}]})", "spec",
       R"({"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "t",
           "labelSelector": {"matchLabels": {"a": "b"}}}]}}})"},
      {R"({"imagePullSecret": [{"secretName": "p"}]})", "spec", R"({"imagePullSecrets": [{"name": "p"}]})"},
      {R"({"imagePullPolicy": "Always"})", "container", R"({"imagePullPolicy": "Always"})"},
      {R"({"activeDeadlineSeconds": "30"})", "spec", R"({"activeDeadlineSeconds": 30})"},
      {R"({"securityContext": {"runAsUser": "1000", "runAsNonRoot": true}})", "container",
       R"({"securityContext": {"runAsUser": 1000, "runAsNonRoot": true}})"},
  };
  for (const Feature& feature : features)
    EXPECT_EQ(pod_with(feature.parts)[std::string_view(feature.place)].sorted().dump(),
              parse(feature.made).sorted().dump())
        << feature.parts;
}

TEST(Platform, ErrorsNameTheField) {
  EXPECT_EQ(pod_with(R"({"magic": 1})").str(), "platforms.kubernetes.magic: it is not a field that is known here");
  EXPECT_EQ(pod_with(R"({"tolerations": {}})").str(), "platforms.kubernetes.tolerations: it is not a list");
  EXPECT_EQ(pod_with(R"({"pvcMount": [{"constant": "c"}]})").str(),
            "platforms.kubernetes.pvcMount: mountPath is required");
  EXPECT_EQ(pod_with(R"({"secretAsEnv": [{"secretNameParameter": {"componentInputParameter": "x"}}]})").str(),
            "platforms.kubernetes.secretAsEnv: secretNameParameter has no value");
  EXPECT_EQ(pod_with(R"({"securityContext": {"runAsUser": "root"}})").str(),
            R"(platforms.kubernetes.securityContext: "root" is not a whole number)");
}

TEST(Platform, ADocumentOfTheSdkBecomesAPod) {
  Trial trial;
  trial.run("platform");
  ASSERT_NE(trial.pod("root.greet"), nullptr) << trial.error();
  const Json& pod = *trial.pod("root.greet");
  EXPECT_EQ(api::label_of(pod, "team"), "a");
  EXPECT_EQ(api::annotation_of(pod, "scheduling.volcano.sh/queue-name"), "q");
  const Json one_gpu = parse(R"({"limits": {"nvidia.com/gpu": "1"}})");
  EXPECT_EQ(pod["spec"]["containers"][std::size_t{0}]["resources"], one_gpu);
  EXPECT_EQ(pod["spec"]["activeDeadlineSeconds"].as_int(), 30);

  // The SDK before 2.11 has another pair of names.
  std::vector<Json> old = compiled("platform");
  Json& executor = old[0].edit_path({"deploymentSpec", "executors", "exec-greet", "container", "resources"});
  executor = parse(R"({"accelerator": {"count": "1", "type": "nvidia.com/gpu"}})");
  Trial before;
  before.run_document(old[0], old[1], "{}", "");
  ASSERT_NE(before.pod("root.greet"), nullptr) << before.error();
  EXPECT_EQ((*before.pod("root.greet"))["spec"]["containers"][std::size_t{0}]["resources"], one_gpu);
}

// A component that makes work of its own (a TrainJob) gets the settings of its task, which its own pod is spared.
TEST(Platform, ATaskConfigHasThePartsOfThePodThatAreHandedOn) {
  std::vector<Json> both = compiled("platform");
  Json& component = both[0].edit_path({"components", "comp-greet"});
  component.edit_path({"inputDefinitions", "parameters", "config"}) =
      parse(R"({"parameterType": "TASK_CONFIG", "isOptional": true})");
  component.set("taskConfigPassthroughs", parse(R"([{"field": "RESOURCES"}, {"field": "KUBERNETES_TOLERATIONS"},
    {"field": "ENV", "applyToTask": true}, {"field": "KUBERNETES_VOLUMES"}])"));
  Json& container = both[0].edit_path({"deploymentSpec", "executors", "exec-greet", "container"});
  container.set("env", parse(R"([{"name": "A", "value": "b"}])"));
  container.set("args", parse(R"(["{{$.inputs.parameters['config']}}"])"));
  Trial trial;
  trial.run_document(both[0], both[1], "{}", "");
  ASSERT_NE(trial.pod("root.greet"), nullptr) << trial.error();
  const Json& spec = (*trial.pod("root.greet"))["spec"];
  const Json& main = spec["containers"][std::size_t{0}];
  const Json config = parse(trial.command("root.greet").back());
  EXPECT_EQ(config["resources"], parse(R"({"limits": {"nvidia.com/gpu": "1"}})"));
  EXPECT_EQ(config["env"][std::size_t{0}], parse(R"({"name": "A", "value": "b"})"));
  EXPECT_FALSE(config["tolerations"].empty());
  EXPECT_FALSE(config["volumeMounts"].empty());
  EXPECT_TRUE(main["resources"].is_null());
  EXPECT_TRUE(spec["tolerations"].is_null());
  EXPECT_EQ(spec["volumes"].size(), 2U) << spec["volumes"].dump();
  EXPECT_EQ(main["volumeMounts"].size(), 2U);
  EXPECT_EQ(main["env"].size(), config["env"].size() + 2);  // the launcher's own
}

// A run of `hello` with pipeline configuration.
void run_with(Trial& trial, std::string_view settings) {
  trial.run_document(compiled("hello")[0],
                     parse(base::format(R"({{"platforms": {{"kubernetes": {{"pipelineConfig": {}}}}}}})", settings)),
                     "{}", "");
}

TEST(PipelineSettings, AWorkspaceIsAClaimOfTheRunThatEveryStepMounts) {
  Trial trial;
  run_with(trial, R"({"workspace": {"size": "2Gi", "kubernetes": {"pvcSpecPatch": {"storageClassName": "fast"}}}})");
  const Json& spec = (*trial.pod("root.greet"))["spec"];
  EXPECT_EQ(spec["containers"][std::size_t{0}]["volumeMounts"][std::size_t{2}]["mountPath"].as_string(),
            "/kfp-workspace");
  const std::string claim = spec["volumes"][std::size_t{2}]["persistentVolumeClaim"]["claimName"].str();
  const Json* made = trial.world.find(resources::kPersistentVolumeClaims, "ns/" + claim);
  ASSERT_NE(made, nullptr) << claim;
  EXPECT_EQ((*made)["spec"]["storageClassName"].as_string(), "fast");
  EXPECT_EQ(api::controller_of(*made)["kind"].as_string(), "PipelineRun");
}

TEST(PipelineSettings, ARunThatTakesTooLongFails) {
  Trial trial;
  run_with(trial, R"({"activeDeadlineSeconds": 60})");
  EXPECT_EQ(trial.state(), "RUNNING");
  trial.world.now = trial.world.now + base::seconds(60);
  trial.world.deletes_pods_slowly = false;
  trial.settle();
  EXPECT_EQ(trial.state(), "FAILED");
  EXPECT_EQ(trial.error(), "the run took longer than 60 s");
  EXPECT_EQ(trial.task_state("root.greet"), "CANCELED");
}

TEST(PipelineSettings, ThePodsOfARunThatHasEndedGoAfterTheirTime) {
  Trial trial;
  run_with(trial, R"({"resourceTtlOnCompletion": "600", "resourceTtlOnSuccess": 30})");
  trial.world.deletes_pods_slowly = false;
  trial.end_pod("root.greet", report_of({"hi"}));
  trial.settle();
  trial.end_pod("root.say", report_of({}));
  trial.settle();
  EXPECT_EQ(trial.state(), "SUCCEEDED");
  EXPECT_EQ(trial.world.all(resources::kPods).size(), 2U);
  trial.world.now = trial.world.now + base::seconds(30);
  trial.settle();
  EXPECT_EQ(trial.world.all(resources::kPods).size(), 0U);
  EXPECT_EQ(trial.task_state("root.say"), "SUCCEEDED");
}

}  // namespace
}  // namespace controllers::pipelines
