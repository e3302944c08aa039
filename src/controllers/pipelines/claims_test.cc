// Steps that make and delete claims: whose rights decide.
#include <gtest/gtest.h>

#include <set>

#include "api/pipelines/v2beta1/pipeline_run.h"
#include "controllers/pipelines/trial_for_tests.h"

namespace controllers::pipelines {
namespace {

using api::Json;
namespace resources = api::resources;

std::string outcome(const std::string& path) { return path == "root.greet" ? report_of({"hello"}) : report_of({}); }

TEST(PipelineClaims, TheAccountOfTheRunDecides) {
  Trial trial;
  std::set<std::string> accounts;
  trial.world.refuse = [&accounts](const Action& action) -> std::optional<base::Error> {
    if (action.kind == "PersistentVolumeClaim") accounts.insert(action.account);
    return std::nullopt;
  };
  const std::vector<Json> both = compiled("claims");
  Json& run = trial.world.put_text(resources::kPipelineRuns, R"({"kind": "PipelineRun", "metadata": {"name": "r",
    "namespace": "ns", "uid": "U"}, "spec": {"serviceAccountName": "robot"}})");
  run.edit("spec").set("pipelineSpec", both[0]);
  run.edit("spec").set("platformSpec", both[1]);
  trial.play(outcome);
  EXPECT_EQ(trial.state(), "SUCCEEDED") << trial.error();
  EXPECT_EQ(accounts, (std::set<std::string>{"ns:robot"}));
}

TEST(PipelineClaims, ARunWithoutAnAccountDeletesOnlyWhatRunsMade) {
  Trial trial;
  trial.run("claims");
  const std::string key = "ns/" + trial.task("root.createpvc")["status"]["outputs"]["parameters"]["name"].str();
  Json* claim = trial.world.edit(resources::kPersistentVolumeClaims, key);
  ASSERT_NE(claim, nullptr);
  claim->edit("metadata").erase("annotations");
  trial.play(outcome);
  EXPECT_EQ(trial.task_state("root.deletepvc"), "FAILED");
  EXPECT_NE(trial.error().find("was not made by a run"), std::string::npos) << trial.error();
  EXPECT_NE(trial.world.find(resources::kPersistentVolumeClaims, key), nullptr);
}

}  // namespace
}  // namespace controllers::pipelines
