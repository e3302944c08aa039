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

// Somebody who may make runs, but no claims, got claims with the controller's rights.
TEST(PipelineClaims, ARunWithoutAnAccountHasTheRightsOfItsPods) {
  Trial trial;
  trial.world.refuse = [](const Action& action) -> std::optional<base::Error> {
    if (action.kind != "PersistentVolumeClaim" || action.account != "ns:default") return std::nullopt;
    return base::make_error(base::Code::kForbidden, "default may not make claims");
  };
  trial.run("claims");
  trial.play(outcome);
  EXPECT_EQ(trial.state(), "FAILED");
  EXPECT_NE(trial.error().find("createpvc: default may not make claims"), std::string::npos) << trial.error();
  EXPECT_TRUE(trial.world.all(resources::kPersistentVolumeClaims).empty());
}

// The accounts of Kubeflow, with several users and with one, where the namespace has them.
TEST(PipelineClaims, ARunWithoutAnAccountHasTheUsualOne) {
  Trial trial;
  std::set<std::string> accounts;
  trial.world.refuse = [&accounts](const Action& action) -> std::optional<base::Error> {
    if (action.kind == "PersistentVolumeClaim") accounts.insert(action.account);
    if (action.kind == "Pod" && action.verb == Action::Verb::kCreate)
      accounts.insert("pod:" + action.body["spec"]["serviceAccountName"].str());
    return std::nullopt;
  };
  trial.world.put_text(resources::kServiceAccounts,
                       R"({"kind": "ServiceAccount", "metadata": {"name": "pipeline-runner", "namespace": "ns"}})");
  trial.run("claims");
  trial.play(outcome);
  EXPECT_EQ(trial.state(), "SUCCEEDED") << trial.error();
  EXPECT_EQ(accounts, (std::set<std::string>{"ns:pipeline-runner", "pod:pipeline-runner"}));
}

TEST(PipelineClaims, AWorkspaceIsMadeWithTheRightsOfTheRun) {
  Trial trial;
  std::string account;
  trial.world.refuse = [&account](const Action& action) -> std::optional<base::Error> {
    if (action.kind != "PersistentVolumeClaim") return std::nullopt;
    account = action.account;
    return base::make_error(base::Code::kForbidden, "robot may not make claims");
  };
  const auto platform =
      api::parse_json(R"({"platforms": {"kubernetes": {"pipelineConfig": {"workspace": {"size": "1Mi"}}}}})");
  const std::vector<Json> both = compiled("hello");
  Json& run = trial.world.put_text(resources::kPipelineRuns, R"({"kind": "PipelineRun", "metadata": {"name": "r",
    "namespace": "ns", "uid": "U"}, "spec": {"serviceAccountName": "robot"}})");
  run.edit("spec").set("pipelineSpec", both[0]);
  run.edit("spec").set("platformSpec", *platform);
  trial.settle();
  EXPECT_EQ(account, "ns:robot");
  EXPECT_EQ(trial.state(), "FAILED");
  EXPECT_NE(trial.error().find("robot may not make claims"), std::string::npos) << trial.error();
}

}  // namespace
}  // namespace controllers::pipelines
