// Workflows from their first look to their end.
#include "pipelines/argo/trial_for_tests.h"

namespace pipelines::argo {
namespace {

using api::Json;
using testing::Trial;

constexpr std::string_view kEchoTemplates = R"(
- name: say
  inputs: {parameters: [{name: text, value: nothing}]}
  container: {image: busybox, command: [echo], args: ["{{inputs.parameters.text}}"]}
- name: make
  container: {image: busybox, command: [make]}
  outputs: {parameters: [{name: out, valueFrom: {path: /tmp/out}}]}
)";

std::string with(std::string_view spec) { return std::string(spec) + "\ntemplates:" + std::string(kEchoTemplates); }

constexpr std::string_view kOut = "7";

TEST(Workflow, a_graph_runs_in_its_order) {
  Trial trial(with("entrypoint: main") + R"(
- name: main
  dag:
    tasks:
    - {name: d, template: say, dependencies: [b, c]}
    - {name: b, template: say, dependencies: [a]}
    - {name: c, template: say, depends: a.Succeeded}
    - {name: a, template: say}
)");
  EXPECT_EQ(trial.running(), "a");
  trial.end("a");
  EXPECT_EQ(trial.running(), "b c");
  trial.end("b");
  EXPECT_EQ(trial.running(), "c");
  trial.end("c");
  EXPECT_EQ(trial.running(), "d");
  EXPECT_EQ(trial.phase(), "Running");
  trial.end("d");
  EXPECT_EQ(trial.phase(), "Succeeded");
  EXPECT_EQ(trial.workflow["status"]["progress"].as_string(), "5/5");
  EXPECT_EQ(trial.pods.size(), 4u);
}

TEST(Workflow, results_are_handed_on) {
  Trial trial(with("entrypoint: main\narguments: {parameters: [{name: who, value: you}]}") + R"(
- name: main
  steps:
  - - {name: a, template: make}
  - - {name: b, template: say, arguments: {parameters: [{name: text, value: "{{steps.a.outputs.parameters.out}} {{workflow.parameters.who}}"}]}}
    - {name: c, template: say}
  outputs: {parameters: [{name: all, valueFrom: {parameter: "{{steps.a.outputs.parameters.out}}"}}]}
)");
  trial.end("a", "Succeeded", kOut);
  EXPECT_EQ(trial.running(), "b c");
  EXPECT_EQ(trial.argument("b"), "7 you");
  EXPECT_EQ(trial.argument("c"), "nothing");
  trial.end("b");
  trial.end("c");
  EXPECT_EQ(trial.phase(), "Succeeded");
  EXPECT_EQ(trial.workflow["status"]["outputs"]["parameters"][0]["value"].as_string(), "7");
}

TEST(Workflow, what_a_step_prints_is_its_result) {
  Trial trial(R"(
entrypoint: main
templates:
- name: draw
  script: {image: python, command: [python3], source: "pass"}
- name: say
  inputs: {parameters: [{name: text}]}
  container: {image: busybox, command: [echo], args: ["{{inputs.parameters.text}}"]}
- name: main
  steps:
  - - {name: one, template: draw}
    - {name: many, template: draw, withItems: [a, b]}
    - {name: none, template: draw}
  - - {name: b, template: say, when: "{{steps.one.outputs.result}} == 6", arguments: {parameters: [{name: text, value: "{{steps.one.outputs.result}}"}]}}
    - {name: c, template: say, withParam: "{{steps.many.outputs.result}}", arguments: {parameters: [{name: text, value: "{{item}}"}]}}
)");
  trial.end("one", "Succeeded", "6\n");
  trial.end("many(0:a)", "Succeeded", R"({"x": 1})");
  trial.end("many(1:b)", "Succeeded", "plain\n\n");
  trial.end("none", "Succeeded", "unused");
  EXPECT_EQ(trial.node("none")->outputs["result"], Json());
  EXPECT_EQ(trial.node("one")->outputs["result"].as_string(), "6");
  EXPECT_EQ(trial.last_word("b"), "6");
  EXPECT_EQ(trial.running(), "b c(0:x:1) c(1:plain\n)");
  const Json pod = trial.pods.at(trial.node("one")->id);
  EXPECT_NE(pod["spec"]["containers"][0]["args"].dump().find(R"("--result","131072")"), std::string::npos);
  const Json unused = trial.pods.at(trial.node("none")->id);
  EXPECT_EQ(unused["spec"]["containers"][0]["args"].dump(), R"(["/argo/staging/script"])");
}

TEST(Workflow, raw_artifacts_are_files) {
  Trial trial(R"(
entrypoint: main
arguments: {parameters: [{name: who, value: you}]}
templates:
- name: take
  inputs: {artifacts: [{name: own, path: /own.txt, raw: {data: "for {{workflow.parameters.who}}"}}, {name: given, path: /a/b/given}]}
  container: {image: busybox, command: [cat, "{{inputs.artifacts.own.path}}"]}
- name: main
  steps:
  - - {name: a, template: take, arguments: {artifacts: [{name: given, raw: {data: "{{workflow.name}}"}}]}}
)");
  EXPECT_EQ(trial.running(), "a");
  const Json pod = trial.pods.at(trial.node("a")->id);
  EXPECT_EQ(pod["metadata"]["annotations"]["workflows.argoproj.io/raw-0"].as_string(), "for you");
  EXPECT_EQ(pod["metadata"]["annotations"]["workflows.argoproj.io/raw-1"].as_string(), "wf");
  EXPECT_EQ(pod["spec"]["containers"][0]["volumeMounts"].dump(),
            R"([{"name":"argo-raw","mountPath":"/own.txt","subPath":"raw-0","readOnly":true},)"
            R"({"name":"argo-raw","mountPath":"/a/b/given","subPath":"raw-1","readOnly":true}])");
}

TEST(Workflow, artifacts_lie_in_folders_of_the_claim) {
  Trial trial(R"(
entrypoint: main
templates:
- name: make
  container: {image: busybox, command: [make]}
  outputs: {artifacts: [{name: model, path: /tmp/outputs/model/data}, {name: ui, path: /ui.json, optional: true}]}
- name: take
  inputs: {artifacts: [{name: it, path: /tmp/inputs/it/data}]}
  container: {image: busybox, command: [cat, "{{inputs.artifacts.it.path}}"]}
- name: main
  dag:
    tasks:
    - {name: a, template: make}
    - {name: b, template: take, dependencies: [a], arguments: {artifacts: [{name: it, from: "{{tasks.a.outputs.artifacts.model}}"}]}}
)");
  trial.end("a");
  const std::string id = trial.node("a")->id;
  const api::Json& mounts = trial.pods.at(id)["spec"]["containers"][0]["volumeMounts"];
  EXPECT_EQ(mounts.dump(),
            R"([{"name":"kfp-artifacts","mountPath":"/tmp/outputs/model","subPath":"artifacts/wf/)" + id +
                R"(/model"},{"name":"kfp-artifacts","mountPath":"/argo/outputs","subPath":"artifacts/wf/)" + id +
                R"("},{"name":"kfp-launcher","mountPath":"/kfp-launcher","readOnly":true}])");
  const api::Json& pod = trial.pods.at(trial.node("b")->id);
  EXPECT_EQ(pod["spec"]["containers"][0]["volumeMounts"].dump(),
            R"([{"name":"kfp-artifacts","mountPath":"/tmp/inputs/it/data","subPath":"artifacts/wf/)" + id +
                R"(/model/data","readOnly":true}])");
  EXPECT_EQ(pod["spec"]["containers"][0]["command"][1].as_string(), "/tmp/inputs/it/data");
  EXPECT_EQ(pod["spec"]["volumes"][0]["persistentVolumeClaim"]["claimName"].as_string(), "mlpipeline-artifacts");
}

TEST(Workflow, a_pod_without_its_outputs_is_an_error) {
  Trial trial(with("entrypoint: make"));
  trial.end("wf");
  EXPECT_EQ(trial.phase(), "Error");
  EXPECT_EQ(trial.message(), "outputs.parameters.out: /tmp/out is not there");
}

TEST(Workflow, conditions_decide_about_tasks) {
  const struct {
    std::string_view depends, when, ends, a, b, whole;
  } rows[] = {
      {"a", "1 == 1", "Succeeded", "Succeeded", "Pending", "Running"},
      {"a", "x == y", "Succeeded", "Succeeded", "Skipped", "Succeeded"},
      {"a", "'{{tasks.a.outputs.parameters.out}}' == 7", "Succeeded", "Succeeded", "Pending", "Running"},
      {"a", "x ==", "Succeeded", "Succeeded", "Error", "Failed"},
      {"a", "1 == 1", "Failed", "Failed", "Omitted", "Failed"},
      {"a.Failed", "1 == 1", "Failed", "Failed", "Pending", "Running"},
      {"a.Failed", "1 == 1", "Succeeded", "Succeeded", "Omitted", "Succeeded"},
      {"a.Succeeded || a.Failed", "1 == 1", "Succeeded", "Succeeded", "Pending", "Running"},
  };
  for (const auto& row : rows) {
    Trial trial(
        with("entrypoint: main") +
        "- name: main\n  dag:\n    tasks:\n    - {name: a, template: make}\n    - {name: b, template: say, depends: " +
        std::string(row.depends) + ", when: \"" + std::string(row.when) + "\"}\n");
    trial.end("a", row.ends, kOut);
    EXPECT_EQ(trial.phase_of("a"), row.a) << row.depends << row.when;
    EXPECT_EQ(trial.phase_of("b"), row.b) << row.depends << row.when;
    EXPECT_EQ(trial.phase(), row.whole) << row.depends << row.when;
  }
}

TEST(Workflow, failures_that_a_task_waits_for_are_handled) {
  Trial trial(with("entrypoint: main") + R"(
- name: main
  dag:
    tasks:
    - {name: a, template: say}
    - {name: mend, template: say, depends: a.Failed}
    - {name: go-on, template: say, depends: mend.Succeeded || a.Succeeded}
)");
  trial.end("a", "Failed");
  EXPECT_EQ(trial.running(), "mend");
  trial.end("mend");
  trial.end("go-on");
  EXPECT_EQ(trial.phase(), "Succeeded");
}

TEST(Workflow, other_failures_keep_tasks_from_beginning) {
  for (const bool fails_fast : {true, false}) {
    Trial trial(with("entrypoint: main") + "- name: main\n  dag:\n    failFast: " + (fails_fast ? "true" : "false") +
                R"(
    tasks:
    - {name: a, template: say}
    - {name: b, template: say}
    - {name: c, template: say, dependencies: [b]}
)");
    trial.end("a", "Failed");
    trial.end("b");
    EXPECT_EQ(trial.running(), fails_fast ? "" : "c");
    EXPECT_EQ(trial.phase(), fails_fast ? "Failed" : "Running");
    EXPECT_EQ(trial.node("c") == nullptr, fails_fast);
  }
}

TEST(Workflow, loops_make_a_pod_for_each_item_and_give_a_list) {
  Trial trial(with("entrypoint: main") + R"(
- name: one
  inputs: {parameters: [{name: text}]}
  container: {image: busybox, command: [x], args: ["{{inputs.parameters.text}}"]}
  outputs: {parameters: [{name: out, valueFrom: {path: /o}}]}
- name: main
  dag:
    tasks:
    - {name: a, template: one, withItems: [x, {k: 5}, 3], arguments: {parameters: [{name: text, value: "{{item}}"}]}}
    - {name: b, template: one, dependencies: [a], withParam: "{{tasks.a.outputs.parameters.out}}", arguments: {parameters: [{name: text, value: "got {{item}}"}]}}
    - {name: c, template: one, dependencies: [b], withSequence: {count: "2"}, arguments: {parameters: [{name: text, value: "{{item}}"}]}}
)");
  EXPECT_EQ(trial.running(), "a(0:x) a(1:k:5) a(2:3)");
  EXPECT_EQ(trial.last_word("a(1:k:5)"), R"({"k":5})");
  for (const char* one : {"a(0:x)", "a(1:k:5)", "a(2:3)"}) trial.end(one, "Succeeded", kOut);
  EXPECT_EQ(trial.running(), "b(0:7) b(1:7) b(2:7)");
  EXPECT_EQ(trial.last_word("b(2:7)"), "got 7");
  for (const char* one : {"b(0:7)", "b(1:7)", "b(2:7)"}) trial.end(one, "Succeeded", kOut);
  EXPECT_EQ(trial.running(), "c(0:0) c(1:1)");
  trial.end("c(0:0)", "Failed");
  EXPECT_EQ(trial.phase(), "Running");
  trial.end("c(1:1)", "Succeeded", kOut);
  EXPECT_EQ(trial.phase(), "Failed");
  EXPECT_EQ(trial.message(), "task 'c' failed: c(0:0): Error (exit code 3)");
}

TEST(Workflow, retries_wait_longer_each_time) {
  Trial trial(R"(
entrypoint: main
templates:
- name: main
  retryStrategy: {limit: "2", backoff: {duration: "10", factor: 2}}
  container: {image: busybox, args: ["{{retries}}"]}
)");
  EXPECT_EQ(trial.argument("wf(0)"), "0");
  trial.end("wf(0)", "Failed");
  EXPECT_EQ(trial.running(), "");
  trial.wait(base::seconds(10));
  EXPECT_EQ(trial.argument("wf(1)"), "1");
  trial.end("wf(1)", "Failed");
  trial.wait(base::seconds(10));
  EXPECT_EQ(trial.running(), "");
  trial.wait(base::seconds(10));
  trial.end("wf(2)", "Failed");
  EXPECT_EQ(trial.phase(), "Failed");
  EXPECT_EQ(trial.message(), "No more retries left: Error (exit code 3)");
}

TEST(Workflow, an_exit_handler_runs_once_and_knows_the_result) {
  for (const std::string_view ends : {"Succeeded", "Failed"}) {
    Trial trial(with("entrypoint: say\nonExit: bye") + R"(
- name: bye
  container: {image: busybox, args: ["{{workflow.status}}"]}
)");
    trial.end("wf", ends);
    EXPECT_EQ(trial.phase(), "Running");
    EXPECT_EQ(trial.argument("wf.onExit"), ends);
    trial.end("wf.onExit");
    EXPECT_EQ(trial.phase(), ends);
    trial.wait(base::minutes(5));
    EXPECT_EQ(trial.pods.size(), 2u);
  }
}

TEST(Workflow, a_pause_ends_after_its_time) {
  Trial trial(with("entrypoint: main") + R"(
- name: rest
  suspend: {duration: 1m}
- name: main
  steps: [[{name: a, template: rest}], [{name: b, template: say}]]
)");
  EXPECT_EQ(trial.running(), "");
  EXPECT_EQ(trial.last.look_again, base::minutes(1));
  trial.wait(base::minutes(1));
  EXPECT_EQ(trial.running(), "b");
}

constexpr std::string_view kVolume = R"(
entrypoint: main
serviceAccountName: runner
templates:
- name: volume
  resource:
    action: create
    manifest: |
      apiVersion: v1
      kind: PersistentVolumeClaim
      metadata: {name: "{{workflow.name}}-data"}
      spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
  outputs:
    parameters:
    - {name: name, valueFrom: {jsonPath: "{.metadata.name}"}}
    - {name: size, valueFrom: {jsonPath: "{.status.capacity.storage}", default: none}}
- name: train
  inputs: {parameters: [{name: claim}]}
  container: {image: busybox, volumeMounts: [{name: v, mountPath: /mnt}]}
  volumes: [{name: v, persistentVolumeClaim: {claimName: "{{inputs.parameters.claim}}"}}]
- name: main
  dag:
    tasks:
    - {name: volume, template: volume}
    - {name: train, template: train, dependencies: [volume], arguments: {parameters: [{name: claim, value: "{{tasks.volume.outputs.parameters.name}}"}]}}
)";

TEST(Workflow, a_step_makes_a_volume_for_others) {
  Trial trial(kVolume);
  ASSERT_FALSE(trial.acted.empty());
  EXPECT_EQ(trial.acted[0].account, "runner");
  EXPECT_EQ(trial.acted[0].manifest["metadata"]["namespace"].as_string(), "ns");
  EXPECT_EQ(trial.running(), "train");
  const api::Json& pod = trial.pods.at(trial.node("train")->id);
  EXPECT_EQ(pod["spec"]["volumes"][0]["persistentVolumeClaim"]["claimName"].as_string(), "wf-data");
  EXPECT_EQ(pod["spec"]["serviceAccountName"].as_string(), "runner");
  EXPECT_EQ(pod["spec"]["schedulerName"].as_string(), "volcano");
  EXPECT_EQ(trial.node("volume")->outputs["parameters"][1]["value"].as_string(), "none");
}

TEST(Workflow, a_refused_object_is_an_error_of_its_step) {
  Trial trial("suspend: true\n" + std::string(kVolume));
  EXPECT_TRUE(trial.acted.empty());
  trial.refusal = "persistentvolumeclaims is forbidden";
  trial.workflow.edit("spec").erase("suspend");
  trial.look();
  EXPECT_EQ(trial.phase(), "Failed");
  EXPECT_EQ(trial.message(), "task 'volume' failed: persistentvolumeclaims is forbidden");
}

TEST(Workflow, conditions_of_objects) {
  const auto object = api::parse_json(R"({"status":{"state":{"phase":"Completed"},"n":3}})");
  const struct {
    std::string_view condition;
    int met;  // -1: an error
  } rows[] = {{"status.state.phase = Completed", 1},
              {"status.state.phase == Failed", 0},
              {"status.state.phase != Failed", 1},
              {"status.state.phase in (Failed, Completed)", 1},
              {"status.state.phase notin (Failed, Completed)", 0},
              {"status.n > 2, status.n < 3", 0},
              {"status.n >= 3,status.state.phase=Completed", 1},
              {"status.gone = ", 1},
              {"nonsense", -1}};
  for (const auto& row : rows) {
    const auto met = meets(row.condition, *object);
    EXPECT_EQ(met.ok() ? (*met ? 1 : 0) : -1, row.met) << row.condition;
  }
}

TEST(Workflow, a_stop_ends_pods_and_runs_the_exit_handler) {
  for (const std::string_view how : {"Stop", "Terminate"}) {
    Trial trial(with("entrypoint: main\nonExit: say") + R"(
- name: main
  steps: [[{name: a, template: say}], [{name: b, template: say}]]
)");
    trial.workflow.edit("spec").set("shutdown", how);
    trial.look();
    EXPECT_EQ(trial.phase_of("a"), "Failed");
    EXPECT_EQ(trial.node("b"), nullptr);
    EXPECT_EQ(trial.node("wf.onExit") != nullptr, how == "Stop");
    if (how == "Stop") trial.end("wf.onExit");
    EXPECT_EQ(trial.phase(), "Failed");
  }
}

TEST(Workflow, a_deadline_ends_it) {
  Trial trial(with("entrypoint: say\nactiveDeadlineSeconds: 60"));
  trial.wait(base::seconds(59));
  EXPECT_EQ(trial.phase(), "Running");
  trial.wait(base::seconds(1));
  EXPECT_EQ(trial.phase(), "Failed");
  EXPECT_EQ(trial.message(), "Step exceeded its deadline");
}

TEST(Workflow, its_time_to_live_removes_it_and_its_claims_go_with_success) {
  Trial trial(
      with("entrypoint: say\nttlStrategy: {secondsAfterCompletion: 100, secondsAfterSuccess: "
           "5}\nvolumeClaimTemplates:\n- {metadata: {name: work}, spec: {}}"));
  EXPECT_TRUE(trial.claims.contains("wf-work"));
  trial.end("wf");
  EXPECT_TRUE(trial.claims.empty());
  EXPECT_FALSE(trial.last.remove);
  trial.wait(base::seconds(5));
  EXPECT_TRUE(trial.last.remove);
}

TEST(Workflow, a_pod_that_is_gone_is_not_run_again) {
  Trial trial(with("entrypoint: say"));
  const std::string id = trial.node("wf")->id;
  trial.pods.erase(id);
  trial.look();
  EXPECT_EQ(trial.last.lost_pods, std::vector<std::string>{id});
  EXPECT_TRUE(trial.pods.empty());
  trial.gone.insert(id);
  trial.look();
  EXPECT_EQ(trial.phase(), "Error");
}

TEST(Workflow, a_pod_made_before_an_end_of_the_controller_is_taken_over) {
  Trial first(with("entrypoint: say"));
  first.workflow.erase("status");
  first.look();
  EXPECT_EQ(first.pods.size(), 1u);
  EXPECT_EQ(first.phase_of("wf"), "Pending");
}

TEST(Workflow, parallelism_bounds_its_pods) {
  Trial trial(with("entrypoint: main\nparallelism: 2") + R"(
- name: main
  dag: {tasks: [{name: a, template: say, withSequence: {count: 5}}]}
)");
  EXPECT_EQ(trial.running(), "a(0:0) a(1:1)");
  trial.end("a(0:0)");
  EXPECT_EQ(trial.running(), "a(1:1) a(2:2)");
}

TEST(Workflow, endless_recursion_ends) {
  Trial trial(with("entrypoint: main") + "- name: main\n  steps: [[{name: again, template: main}]]\n");
  EXPECT_EQ(trial.phase(), "Failed");
}

TEST(Workflow, one_with_too_many_nodes_ends) {
  Trial trial(with("entrypoint: main") + R"(
- name: main
  steps: [[{name: a, template: main}, {name: b, template: main}, {name: c, template: main}, {name: d, template: say}]]
)");
  EXPECT_EQ(trial.phase(), "Error");
  EXPECT_EQ(trial.message(), "the workflow has more than 2000 nodes");
  EXPECT_LT(trial.last.nodes.size() + trial.workflow["status"]["nodes"].size(), 10 * kNodesMax);
  EXPECT_EQ(trial.running(), "");
  EXPECT_TRUE(trial.pods.empty());
}

}  // namespace
}  // namespace pipelines::argo
