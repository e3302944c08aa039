// Workflows at their corners, beside Argo's definition.
#include "base/format.h"
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
  outputs: {artifacts: [{name: a, path: /tmp/outputs/a.txt}, {name: b, path: /tmp/outputs/b}]}
- name: take
  inputs: {artifacts: [{name: one, path: /tmp/outputs/other.txt}, {name: two, path: /b}]}
  container: {image: busybox, command: [make]}
  outputs: {artifacts: [{name: c, path: /tmp/outputs/c.txt}]}
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
  EXPECT_EQ(mounts("first"), "/tmp/outputs=/a ");
  EXPECT_EQ(mounts("second"), "/tmp/outputs=/c /tmp/outputs/other.txt=/a/a.txt /b=/a/b ");
}

// A folder of the claim in their place hid what the image has there, was refused beside another volume, and could not
// be right below the root.
TEST(WorkflowCorners, outputs_in_other_folders_are_copied_behind_the_command) {
  Trial trial(R"(
entrypoint: main
templates:
- name: make
  inputs: {parameters: [{name: file, value: version}]}
  container: {image: busybox, command: [make], args: [all], volumeMounts: [{name: work, mountPath: /space}]}
  volumes: [{name: work, emptyDir: {}}]
  outputs:
    artifacts:
    - {name: model, path: /model/}
    - {name: out, path: "/space/{{inputs.parameters.file}}", optional: true}
    - {name: mlpipeline-metrics, path: /metrics.json}
- name: take
  inputs: {artifacts: [{name: model, path: /in}, {name: out, path: /out}]}
  container: {image: busybox, command: [make]}
- name: main
  dag:
    tasks:
    - {name: first, template: make}
    - {name: second, template: take, depends: first, arguments: {artifacts: [{name: model, from: "{{tasks.first.outputs.artifacts.model}}"}, {name: out, from: "{{tasks.first.outputs.artifacts.out}}"}]}}
)");
  const std::string id = trial.node("first")->id;
  const api::Json& main = trial.pods.at(id)["spec"]["containers"][0];
  EXPECT_EQ(main["command"].dump(), R"(["/kfp-launcher/launch"])");
  EXPECT_TRUE(main["args"].dump().ends_with(
      R"("--keep","/model/","--as","/argo/outputs/model/model","--keep-if-there","/space/version","--as",)"
      R"("/argo/outputs/out/version","--keep-if-there","/metrics.json","--as",)"
      R"("/argo/outputs/mlpipeline-metrics/metrics.json","--","make","all"])"))
      << main["args"].dump();
  EXPECT_EQ(main["volumeMounts"].dump(),
            R"([{"name":"work","mountPath":"/space"},{"name":"kfp-artifacts","mountPath":"/argo/outputs","subPath":)"
            R"("artifacts/wf/)" +
                id + R"("},{"name":"kfp-launcher","mountPath":"/kfp-launcher","readOnly":true}])");
  trial.end("first");
  const api::Json& mounts = trial.pods.at(trial.node("second")->id)["spec"]["containers"][0]["volumeMounts"];
  EXPECT_EQ(mounts[0]["subPath"].as_string(), "artifacts/wf/" + id + "/model/model");
  EXPECT_EQ(mounts[1]["subPath"].as_string(), "artifacts/wf/" + id + "/out/version");
}

// Without a command it would be an empty folder for those that take it.
TEST(WorkflowCorners, an_output_that_cannot_be_kept_is_refused) {
  for (const std::string_view path : {"/model", "/space/out", "/space"}) {
    Trial trial(base::format(R"(
entrypoint: make
templates:
- name: make
  container: {{image: busybox, volumeMounts: [{{name: work, mountPath: /space}}]}}
  volumes: [{{name: work, emptyDir: {{}}}}]
  outputs: {{artifacts: [{{name: model, path: {}}}]}}
)",
                             path));
    EXPECT_TRUE(trial.pods.empty()) << path;
    EXPECT_EQ(
        trial.node("wf")->message,
        base::format("outputs.artifacts.model: the container needs a command, which is run by what copies {}", path));
  }
}

TEST(WorkflowCorners, numbers_of_a_sequence_have_a_form) {
  Trial trial(R"(
entrypoint: main
templates:
- name: say
  inputs: {parameters: [{name: x}]}
  container: {image: busybox, command: [echo, "{{inputs.parameters.x}}"]}
- name: main
  steps:
  - - {name: a, template: say, arguments: {parameters: [{name: x, value: "{{item}}"}]}, withSequence: {start: 9, end: 11, format: "user-%03d"}}
    - {name: b, template: say, arguments: {parameters: [{name: x, value: "{{item}}"}]}, withSequence: {start: 26, count: 1, format: "0x%04X %%"}}
    - {name: c, template: say, arguments: {parameters: [{name: x, value: "{{item}}"}]}, withSequence: {start: -5, count: 1, format: "%4d|"}}
)");
  std::set<std::string> texts;
  for (const auto& [name, pod] : trial.pods) texts.insert(pod["spec"]["containers"][0]["command"][1].str());
  EXPECT_EQ(texts, (std::set<std::string>{"user-009", "user-010", "user-011", "0x001A %", "  -5|"}));
}

TEST(WorkflowCorners, a_target_leaves_out_what_it_does_not_wait_for) {
  const auto tasks_for = [](std::string_view target) {
    Trial trial(base::format(R"(
entrypoint: main
arguments: {{parameters: [{{name: target, value: "{}"}}]}}
templates:
- {{name: pass, container: {{image: busybox, command: [echo]}}}}
- name: main
  dag:
    target: "{{{{workflow.parameters.target}}}}"
    tasks:
    - {{name: a, template: pass}}
    - {{name: b, template: pass, depends: a}}
    - {{name: c, template: pass, depends: a}}
    - {{name: d, template: pass, depends: b && c}}
)",
                             target));
    for (const char* name : {"a", "b", "c", "d"})
      if (trial.node(name) != nullptr) trial.end(name);
    std::string out = trial.phase() + ":";
    for (const char* name : {"a", "b", "c", "d"}) out += trial.node(name) == nullptr ? "" : name;
    return out;
  };
  EXPECT_EQ(tasks_for("c"), "Succeeded:ac");
  EXPECT_EQ(tasks_for("b c"), "Succeeded:abc");
  EXPECT_EQ(tasks_for(""), "Succeeded:abcd");
  EXPECT_EQ(tasks_for("x"), "Error:");
}

// A Secret or claim that another template's pods have must not hold up those that do not mount it.
TEST(WorkflowCorners, pods_have_the_volumes_that_they_mount) {
  Trial trial(R"(
entrypoint: main
volumes: [{name: key, secret: {secretName: key}}, {name: other, emptyDir: {}}]
volumeClaimTemplates: [{metadata: {name: work}, spec: {accessModes: [ReadWriteOnce]}}]
templates:
- name: main
  timeout: 90s
  activeDeadlineSeconds: 200
  container: {image: busybox, command: [echo], volumeMounts: [{name: key, mountPath: /key}]}
  initContainers: [{name: init, image: busybox, mirrorVolumeMounts: true}]
  sidecars: [{name: side, image: busybox, volumeMounts: [{name: work, mountPath: /space}]}]
)");
  ASSERT_EQ(trial.pods.size(), 1U);
  const api::Json& spec = trial.pods.begin()->second["spec"];
  EXPECT_EQ(spec["volumes"].dump(), R"([{"name":"key","secret":{"secretName":"key"}},)"
                                    R"({"name":"work","persistentVolumeClaim":{"claimName":"wf-work"}}])");
  EXPECT_EQ(spec["initContainers"][1].dump(),
            R"({"name":"init","image":"busybox","volumeMounts":[{"name":"key","mountPath":"/key"}]})");
  EXPECT_EQ(spec["activeDeadlineSeconds"].as_int(), 90);
}

TEST(WorkflowCorners, a_timeout_that_becomes_no_length_of_time_fails_its_step) {
  Trial trial(R"(
entrypoint: main
arguments: {parameters: [{name: patience, value: soon}]}
templates:
- name: main
  timeout: "{{workflow.parameters.patience}}"
  container: {image: busybox, command: [echo]}
)");
  EXPECT_TRUE(trial.pods.empty());
  EXPECT_EQ(trial.node("wf")->message, R"(timeout: "soon" is not a length of time, such as 90s or 1h30m)");
}

TEST(WorkflowCorners, pods_go_as_their_strategy_says) {
  const auto left_after = [](std::string_view strategy, bool succeeds) {
    Trial trial(base::format(R"(
entrypoint: main
podGC: {{strategy: {}, deleteDelayDuration: 10s}}
templates:
- {{name: pass, container: {{image: busybox, command: [echo]}}}}
- {{name: main, steps: [[{{name: a, template: pass}}], [{{name: b, template: pass}}]]}}
)",
                             strategy));
    const std::string a = trial.node("a")->id;
    trial.end("a");
    trial.now = trial.now + base::seconds(11);
    trial.look();
    std::string out = trial.pods.contains(a) ? "a" : "";
    const std::string b = trial.node("b")->id;
    trial.end("b", succeeds ? "Succeeded" : "Failed");
    trial.now = trial.now + base::seconds(5);
    trial.look();
    out += trial.pods.contains(b) ? "b" : "";
    trial.now = trial.now + base::seconds(6);
    trial.look();
    return out + ":" + (trial.pods.contains(a) ? "a" : "") + (trial.pods.contains(b) ? "b" : "");
  };
  EXPECT_EQ(left_after("OnPodCompletion", false), "b:");
  EXPECT_EQ(left_after("OnPodSuccess", false), "b:b");
  EXPECT_EQ(left_after("OnWorkflowCompletion", false), "ab:");
  EXPECT_EQ(left_after("OnWorkflowSuccess", false), "ab:ab");
  EXPECT_EQ(left_after("OnWorkflowSuccess", true), "ab:");
}

// python -m runner SCRIPT, as Hera writes it.
TEST(WorkflowCorners, a_script_comes_behind_its_arguments) {
  Trial trial(R"(
entrypoint: main
templates:
- name: main
  script: {image: python, command: [python], args: [-m, runner], source: 'print(1)'}
)");
  ASSERT_EQ(trial.pods.size(), 1U);
  const api::Json& main = trial.pods.begin()->second["spec"]["containers"][0];
  EXPECT_EQ(main["command"].dump() + main["args"].dump(), R"(["python"]["-m","runner","/argo/staging/script"])");
}

}  // namespace
}  // namespace pipelines::argo
