// A Workflow that failed and is tried again.
#include "pipelines/argo/workflow_retry.h"

#include "pipelines/argo/trial_for_tests.h"

namespace pipelines::argo {
namespace {

using api::Json;
using testing::Trial;

constexpr std::string_view kFails = R"(
entrypoint: main
templates:
- name: say
  container: {image: busybox, command: [echo]}
- name: main
  dag:
    failFast: false
    tasks:
    - {name: a, template: say}
    - {name: b, template: say}
    - {name: c, template: say, dependencies: [b]}
)";

TEST(Workflow, one_that_is_retried_keeps_what_succeeded) {
  Trial trial(kFails);
  trial.end("a");
  trial.end("b", "Failed");
  EXPECT_EQ(trial.phase(), "Failed");
  const std::string a = trial.node("a")->id, b = trial.node("b")->id;
  trial.workflow.edit_path({"metadata", "annotations"}).set(kRetryAnnotation, "true");
  trial.look();
  EXPECT_FALSE(asks_for_retry(trial.workflow));
  EXPECT_EQ(trial.phase(), "Running");
  EXPECT_FALSE(trial.workflow["status"].has("finishedAt"));
  EXPECT_EQ(trial.running(), "b");
  EXPECT_EQ(trial.phase_of("a"), "Succeeded");
  EXPECT_TRUE(trial.pods.contains(a) && trial.pods.contains(b));
  trial.end("b");
  trial.end("c");
  EXPECT_EQ(trial.phase(), "Succeeded");
}

// Pods go before nodes do, and the request goes with the nodes: whichever write is the last one before a crash, the
// next look goes on where it was.
TEST(Workflow, one_that_is_retried_waits_until_the_pods_of_the_last_attempt_are_gone) {
  Trial trial(kFails);
  trial.end("a");
  trial.end("b", "Failed");
  const std::string b = trial.node("b")->id;
  Json& workflow = trial.workflow;
  workflow.edit_path({"metadata", "annotations"}).set(kRetryAnnotation, "true");
  const Json pod = trial.pods[b];
  const auto look = [&](bool is_there) {
    return decide({.workflow = workflow, .now = trial.now, .pod = [&](const std::string& name) {
                     return is_there && name == b ? &pod : nullptr;
                   }});
  };
  for (int crash = 0; crash < 2; ++crash) {
    const WorkflowDecision waits = look(true);
    EXPECT_EQ(waits.ended_pods, std::vector<std::string>{b});
    EXPECT_TRUE(waits.pods.empty());
    EXPECT_FALSE(waits.is_retried);
    EXPECT_TRUE(waits.nodes.contains(b));
    EXPECT_EQ(waits.status["phase"].as_string(), "Failed");
  }
  for (int crash = 0; crash < 2; ++crash) {
    const WorkflowDecision begins = look(false);
    EXPECT_TRUE(begins.is_retried);
    EXPECT_TRUE(begins.pods.empty()) << "no pod before the status tells of the beginning";
    EXPECT_EQ(begins.nodes.size(), 1U);
  }
}

}  // namespace
}  // namespace pipelines::argo
