// Workflows at their corners, beside Argo's definition.
#include "pipelines/argo/trial_for_tests.h"

namespace pipelines::argo {
namespace {

using api::Json;
using testing::Trial;

std::string with(std::string_view spec) {
  return std::string(spec) + R"(
templates:
- name: say
  inputs: {parameters: [{name: text, value: nothing}]}
  container: {image: busybox, command: [echo], args: ["{{inputs.parameters.text}}"]}
)";
}

TEST(WorkflowCorners, an_exit_handler_knows_the_failures_and_hides_none) {
  Trial trial(with("entrypoint: main\nonExit: bye") + R"(
- name: main
  steps: [[{name: a, template: say}]]
- name: bye
  container: {image: busybox, args: ["{{workflow.failures}}"]}
)");
  trial.end("a", "Failed");
  const auto text = api::parse_json(trial.argument("wf.onExit"));
  ASSERT_TRUE(text.ok() && text->is_string()) << trial.argument("wf.onExit");
  const auto failures = api::parse_json(text->as_string());
  ASSERT_TRUE(failures.ok());
  std::string names;
  for (const Json& one : failures->items())
    names += one["displayName"].str() + ":" + one["templateName"].str() + ":" + one["phase"].str() + " ";
  EXPECT_EQ(names, "wf:main:Failed a:say:Failed [0]::Failed ");
  const std::string message = trial.node("wf")->message;
  trial.end("wf.onExit", "Failed");
  EXPECT_EQ(trial.phase(), "Failed");
  EXPECT_EQ(trial.message(), message);
}

TEST(WorkflowCorners, a_skipped_root_is_a_success_for_the_exit_handler) {
  Trial trial(with("entrypoint: main\nonExit: bye") + R"(
- name: main
  steps: [[{name: a, template: say, when: "1 == 2"}]]
- name: bye
  container: {image: busybox, args: ["{{workflow.status}} {{workflow.failures}}"]}
)");
  EXPECT_EQ(trial.argument("wf.onExit"), "Succeeded \"[]\"");
}

TEST(WorkflowCorners, retries_end_with_their_time) {
  Trial trial(R"(
entrypoint: main
templates:
- name: main
  retryStrategy: {limit: 10, backoff: {duration: 10s, factor: 2, maxDuration: 1m, cap: 15s}}
  container: {image: busybox}
)");
  trial.end("wf(0)", "Failed");
  trial.wait(base::seconds(10));
  trial.end("wf(1)", "Failed");
  trial.wait(base::seconds(14));
  EXPECT_EQ(trial.running(), "");
  trial.wait(base::seconds(1));
  EXPECT_EQ(trial.running(), "wf(2)") << "a pause is not longer than its cap";
  trial.wait(base::seconds(30));
  trial.end("wf(2)", "Failed");
  EXPECT_EQ(trial.phase(), "Failed");
  EXPECT_EQ(trial.message(), "Backoff would exceed max duration limit: Error (exit code 3)");
}

TEST(WorkflowCorners, inputs_and_globals_of_a_template) {
  Trial trial(R"(
entrypoint: main
arguments: {parameters: [{name: who, value: you}, {name: later}]}
templates:
- name: main
  inputs: {parameters: [{name: a, default: "{{workflow.parameters.who}}-{{workflow.mainEntrypoint}}"}, {name: b, value: 2}]}
  container: {image: busybox, args: ["{{inputs.parameters.a}} {{inputs.parameters}} {{workflow.parameters.json}} {{workflow.labels}}"]}
)");
  EXPECT_EQ(
      trial.argument("wf"),
      R"(you-main [{"name":"a","value":"you-main"},{"name":"b","value":"2"}] [{"name":"who","value":"you"},{"name":"later"}] {})");
}

TEST(WorkflowCorners, a_loop_without_items_is_skipped) {
  Trial trial(with("entrypoint: main") + R"(
- name: main
  dag:
    tasks:
    - {name: a, template: say, withParam: "[]"}
    - {name: b, template: say, depends: a, arguments: {parameters: [{name: text, value: "{{tasks.a.outputs.parameters}} {{tasks.a.status}}"}]}}
    - {name: c, template: say, depends: a.Succeeded}
)");
  EXPECT_EQ(trial.phase_of("a"), "Skipped");
  EXPECT_EQ(trial.argument("b"), "[] Skipped");
  EXPECT_EQ(trial.phase_of("c"), "Omitted");
}

TEST(WorkflowCorners, a_template_bounds_how_many_of_its_parts_run_at_once) {
  Trial trial(with("entrypoint: main") + R"(
- name: two
  parallelism: 2
  dag: {tasks: [{name: a, template: say, withItems: [1, 2, 3]}, {name: b, template: say}]}
- name: main
  steps: [[{name: x, template: two}, {name: y, template: two}]]
)");
  EXPECT_EQ(trial.pods.size(), 4u) << "each use by itself";
  for (const char* name : {"a(0:1)", "a(1:2)"}) trial.end(name);
  EXPECT_EQ(trial.pods.size(), 6u);
}

// Two of them in one folder were two mounts of one path, which no server takes.
TEST(WorkflowCorners, artifacts_of_one_folder_share_a_mount) {
  Trial trial(R"(
entrypoint: main
templates:
- name: make
  container: {image: busybox, command: [make]}
  outputs: {artifacts: [{name: a, path: /tmp/a.txt}, {name: b, path: /tmp/b}]}
- name: take
  inputs: {artifacts: [{name: one, path: /tmp/other.txt}, {name: two, path: /b}]}
  container: {image: busybox, command: [make]}
  outputs: {artifacts: [{name: c, path: /tmp/c.txt}]}
- name: main
  dag:
    tasks:
    - {name: first, template: make}
    - {name: second, template: take, depends: first, arguments: {artifacts: [{name: one, from: "{{tasks.first.outputs.artifacts.a}}"}, {name: two, from: "{{tasks.first.outputs.artifacts.b}}"}]}}
)");
  trial.end("first");
  const auto mounts = [&trial](std::string_view display) {
    std::string out;
    const api::Json& pod = trial.pods.at(trial.node(display)->id);
    for (const api::Json& one : pod["spec"]["containers"][0]["volumeMounts"].items())
      out += one["mountPath"].str() + "=" + one["subPath"].str().substr(one["subPath"].str().find('/', 13)) + " ";
    return out;
  };
  EXPECT_EQ(mounts("first"), "/tmp=/a ");
  EXPECT_EQ(mounts("second"), "/tmp=/c /tmp/other.txt=/a/a.txt /b=/a/b ");
}

}  // namespace
}  // namespace pipelines::argo
