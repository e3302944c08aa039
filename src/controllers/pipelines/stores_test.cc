// Runs whose artifacts lie in S3-compatible stores.
#include <gtest/gtest.h>

#include "api/pipelines/v2beta1/pipeline_run.h"
#include "controllers/pipelines/trial_for_tests.h"
#include "pipelines/stage/program.h"

namespace controllers::pipelines {
namespace {

using api::Json;
namespace resources = api::resources;

constexpr std::string_view kConfig = R"({"metadata": {"name": "kfp-launcher", "namespace": "ns"}, "data": {
  "defaultPipelineRoot": "s3://bucket/runs",
  "providers": "s3: {default: {endpoint: 'http://store:9000', credentials: {secretRef: {secretName: s, accessKeyKey: id, secretKeyKey: key}}}}"}})";

const Json& variable(const Json& pod, std::string_view name) {
  for (const Json& one : pod["spec"]["containers"][std::size_t{0}]["env"].items())
    if (one["name"].as_string() == name) return one;
  static const Json none;
  return none;
}

std::string outcome(const std::string& path) {
  if (path.find("make") == std::string::npos) return "";
  return report_of({}, R"({"parameterValues": {"Output": [0, 1]}})");
}

TEST(PipelineRunStores, AStepOfARootInAStoreHasTheHelperAndTheSecret) {
  if (::pipelines::stage_program().empty()) GTEST_SKIP() << "built without musl or mbedTLS";
  Trial trial;
  trial.world.put_text(resources::kConfigMaps, std::string(kConfig));
  trial.run("loops", R"({"items": [1]})");
  trial.play(outcome);
  const Json& run = *trial.world.find(resources::kPipelineRuns, "ns/r");
  EXPECT_EQ(run["spec"]["runtimeConfig"]["pipelineRoot"].as_string(), "s3://bucket/runs");
  const std::string path = "root.for-loop-1[0].make";
  ASSERT_NE(trial.pod(path), nullptr) << trial.error();
  const Json& pod = *trial.pod(path);
  const std::string plan = variable(pod, "KFP_STORE_PLAN")["value"].str();
  EXPECT_TRUE(plan.starts_with("store\t0\tplain\tpath\tstore\t9000\tus-east-1\nput\t0\tbucket\truns/loops/U-r/make/"))
      << plan;
  EXPECT_EQ(variable(pod, "KFP_STORE_KEY_0")["valueFrom"]["secretKeyRef"].dump(), R"({"name":"s","key":"key"})");
  EXPECT_NE(pod.dump().find(R"("--stage","/kfp-store/stage","--")"), std::string::npos);
  EXPECT_NE(pod.dump().find(R"("mountPath":"/s3")"), std::string::npos);
  EXPECT_EQ(pod.dump().find("mlpipeline-artifacts"), std::string::npos);
  EXPECT_EQ(trial.world.find(resources::kPersistentVolumeClaims, "ns/mlpipeline-artifacts"), nullptr);
  std::size_t helpers = 0;
  for (const Json* one : trial.world.all(resources::kConfigMaps))
    helpers += api::name_of(*one).starts_with("kfp-store-") ? 1 : 0;
  EXPECT_EQ(helpers, 1U);
}

TEST(PipelineRunStores, TheRootOfARunStaysWhenTheNamespaceHasAnother) {
  Trial trial;
  trial.world.put_text(resources::kConfigMaps, std::string(kConfig));
  trial.run("loops", R"({"items": [1]})");
  trial.world.edit(resources::kConfigMaps, "ns/kfp-launcher")->edit("data").set("defaultPipelineRoot", "s3://other");
  trial.restart();
  trial.play(outcome);
  EXPECT_TRUE(trial.task("root.for-loop-1[0].make")["status"]["outputs"]["artifacts"]["data"][std::size_t{0}]["uri"]
                  .as_string()
                  .starts_with("s3://bucket/runs/"));
}

TEST(PipelineRunStores, AConfigMapThatCannotBeReadIsTheRunsError) {
  Trial trial;
  trial.world.put_text(resources::kConfigMaps,
                       R"({"metadata": {"name": "kfp-launcher", "namespace": "ns"}, "data": {"providers": "s3: {}"}})");
  trial.run("loops", R"({"items": [1]})");
  EXPECT_EQ(trial.state(), "FAILED");
  EXPECT_EQ(trial.error(), "ConfigMap kfp-launcher: providers.s3.default: it is required");
}

}  // namespace
}  // namespace controllers::pipelines
