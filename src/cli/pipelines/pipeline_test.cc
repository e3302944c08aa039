// volcano pipeline: the objects that it makes, what it says while a run goes, and bad input.
#include "cli/pipelines/pipeline.h"

#include <map>

#include "api/argo/v1alpha1/workflow.h"
#include "api/pipelines/v2beta1/pipeline.h"
#include "api/pipelines/v2beta1/pipeline_run.h"
#include "cli/fake_api_for_tests.h"

namespace cli {
namespace {

constexpr std::string_view kFile = R"(pipelineInfo: {name: greeting}
schemaVersion: 2.1.0
sdkVersion: kfp-2.17.3
root:
  dag:
    tasks:
      say: {taskInfo: {name: say}, componentRef: {name: comp-say}, inputs: {parameters: {words: {componentInputParameter: words}}}}
      bye: {taskInfo: {name: bye}, componentRef: {name: comp-say}, dependentTasks: [say], inputs: {parameters: {words: {runtimeValue: {constant: bye}}}}}
  inputDefinitions:
    parameters: {words: {parameterType: STRING}, times: {parameterType: NUMBER_INTEGER, defaultValue: 1}}
components:
  comp-say: {executorLabel: exec-say, inputDefinitions: {parameters: {words: {parameterType: STRING}}}}
deploymentSpec:
  executors: {exec-say: {container: {image: busybox, command: [echo]}}}
)";

constexpr std::string_view kFileOfVersion1 = R"(apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: greeting-}
spec:
  entrypoint: greet
  templates:
  - name: greet
    dag:
      tasks:
      - {name: say, template: print}
      - {name: bye, template: print, dependencies: [say], when: "1 == 1"}
  - name: print
    container: {image: busybox, command: [echo]}
)";

struct PipelineTest : VcctlTest {
  PipelineTest() {
    world.read_file = [](const std::string& path) -> base::Result<std::string> {
      if (path == "greeting.yaml") return std::string(kFile);
      if (path == "version1.yaml") return std::string(kFileOfVersion1);
      if (path == "broken.yaml") return std::string("a: [");
      return base::make_error(base::Code::kNotFound, path + ": No such file or directory");
    };
  }
  int pipeline(std::vector<std::string> arguments) {
    world.out.clear();
    world.err.clear();
    world.exit_status = 0;
    shown.clear();
    return run_command(pipeline_root(), arguments, world);
  }
  std::map<std::string, std::string> written = {};  // files by path
  void put_task(std::string_view path, std::string_view state, std::string_view more = "") {
    put(resources::kPipelineTasks, task(path, state, more));
  }
  static std::string task(std::string_view path, std::string_view state, std::string_view more = "") {
    std::string name(path);
    for (char& c : name)
      if (c == '.') c = '-';
    return base::format(
        R"({{"metadata": {{"name": "{}", "namespace": "default"}}, "spec": {{"path": "{}", "taskName": "{}"}},
      "status": {{"state": "{}", "startTime": "2026-01-01T00:00:00Z", "endTime": "2026-01-01T00:00:05Z"{}}}}})",
        name, path, path.substr(path.rfind('.') + 1), state, more);
  }
  void notify(int stream, std::string_view object) {
    server.news.push_back({.kind = Happening::Kind::kObject,
                           .stream = stream,
                           .object = *api::parse_json(object),
                           .text = {},
                           .end = {}});
  }
  static std::string run_object(std::string_view state, std::string_view error = "") {
    return base::format(
        R"({{"metadata": {{"name": "greeting-x", "namespace": "default", "resourceVersion": "7", "uid": "u"}},
      "spec": {{"displayName": "greeting"}}, "status": {{"state": "{}", "error": "{}",
      "tasks": {{"total": 3, "succeeded": 2}}, "startedAt": "2026-01-01T00:00:00Z", "finishedAt": "2026-01-01T00:01:00Z"}}}})",
        state, error);
  }
  void put_run(std::string_view state, std::string_view error = "") {
    put(resources::kPipelineRuns, run_object(state, error));
  }
};

TEST_F(PipelineTest, upload_makes_a_pipeline_and_a_version) {
  EXPECT_EQ(pipeline({"upload", "greeting.yaml", "--description", "says"}), 0) << world.err;
  // The version first, then its pipeline, then that it is the owner.
  ASSERT_EQ(server.writes.size(), 3u);
  EXPECT_EQ(server.writes[0].body["spec"]["displayName"].as_string(), "v1");
  EXPECT_EQ(server.writes[0].body["spec"]["pipelineName"].as_string(), "greeting");
  EXPECT_EQ(api::name_of(server.writes[1].body), "greeting");
  EXPECT_EQ(server.writes[2].body["metadata"]["ownerReferences"].size(), 1u);
  EXPECT_EQ(shown + world.out,
            "pipeline default/greeting was made\nversion v1 of pipeline default/greeting was made\n");
}

TEST_F(PipelineTest, a_file_of_version_1_is_uploaded_and_shown_and_run_by_others) {
  EXPECT_EQ(pipeline({"upload", "version1.yaml"}), 0) << world.err;
  EXPECT_EQ(server.writes[0].body["spec"]["pipelineName"].as_string(), "greeting");
  EXPECT_EQ(pipeline({"graph", "version1.yaml"}), 0) << world.err;
  EXPECT_EQ(shown + world.out, "pipeline greet\nTASK  KIND  AFTER\nsay   step  -\nbye   if    say\n");
  EXPECT_NE(pipeline({"run", "version1.yaml"}), 0);
  const std::string reported = shown + world.out + world.err;
  EXPECT_NE(reported.find("kubectl create -f FILE runs it"), std::string::npos) << reported;
  put(resources::kWorkflows, R"({"kind": "Workflow", "metadata": {"name": "greeting-x", "namespace": "default",
      "annotations": {"pipelines.kubeflow.org/run_name": "My run"}}, "status": {"phase": "Running", "progress": "1/2"}})");
  EXPECT_EQ(pipeline({"list"}), 0);
  EXPECT_NE((shown + world.out).find("greeting-x  RUNNING  1/2"), std::string::npos) << shown + world.out;
}

TEST_F(PipelineTest, a_run_of_version_1_has_a_graph_logs_and_an_end) {
  constexpr std::string_view kRun =
      R"({{"kind": "Workflow", "metadata": {{"name": "old", "namespace": "default", "uid": "u"}},
      "status": {{"phase": "Running"{}, "nodes": {{
        "old": {{"id": "old", "name": "old", "type": "DAG", "phase": "Running"}},
        "p1": {{"id": "p1", "name": "old.say", "displayName": "say", "type": "Pod", "phase": "Failed", "message": "exit code 3",
          "startedAt": "2026-01-01T00:00:00Z", "finishedAt": "2026-01-01T00:00:05Z"}}}}}}}})";
  put(resources::kWorkflows, base::format(kRun, ""));
  EXPECT_EQ(pipeline({"graph", "old"}), 0) << world.err;
  EXPECT_EQ(shown + world.out,
            "run default/old RUNNING\nTASK  STATE   TIME  POD  REASON\nsay   FAILED  5s    p1   exit code 3\n");
  server.news = {{.kind = Happening::Kind::kText, .stream = 1, .text = "hello\n"},
                 {.kind = Happening::Kind::kEnd, .stream = 1}};
  EXPECT_EQ(pipeline({"logs", "old"}), 0) << world.err;
  EXPECT_EQ(shown + world.out, "[say/main] hello\n");
  EXPECT_EQ(pipeline({"terminate", "old"}), 0) << world.err;
  EXPECT_EQ(server.writes.back().body.dump(), R"({"metadata":{"uid":"u"},"spec":{"shutdown":"Terminate"}})");
  put(resources::kWorkflows, base::format(kRun, R"(, "finishedAt": "2026-01-01T00:01:00Z")"));
  EXPECT_NE(pipeline({"terminate", "old"}), 0);
  EXPECT_NE(pipeline({"retry", "old"}), 0);
  EXPECT_NE(pipeline({"logs", "nothing"}), 0);
  const std::string reported = shown + world.out + world.err;
  EXPECT_NE(reported.find("namespace default has no run \"nothing\""), std::string::npos) << reported;
}

TEST_F(PipelineTest, a_run_of_version_1_is_tried_again) {
  const auto run = [](std::string_view phase, std::string_view annotations, std::string_view root,
                      std::string_view step) {
    return *api::parse_json(base::format(
        R"({{"kind": "Workflow", "metadata": {{"name": "old", "namespace": "default", "resourceVersion": "7",
        "annotations": {}}}, "status": {{"phase": "{}", "nodes": {{
          "old": {{"name": "old", "type": "DAG", "phase": "{}"}},
          "p0": {{"name": "old.load", "type": "Pod", "phase": "Succeeded"}},
          "p1": {{"name": "old.say", "type": "Pod", "phase": "{}"}}}}}}}})",
        annotations, phase, root, step));
  };
  put(resources::kWorkflows, run("Succeeded", "{}", "Succeeded", "Succeeded").dump());
  EXPECT_NE(pipeline({"retry", "old"}), 0);
  const std::string refused = shown + world.out + world.err;
  EXPECT_NE(refused.find("it is SUCCEEDED; only a run that failed"), std::string::npos) << refused;
  put(resources::kWorkflows, run("Failed", "{}", "Failed", "Failed").dump());
  const auto received = [](api::Json object) {
    return Happening{.kind = Happening::Kind::kObject, .stream = 1, .object = std::move(object)};
  };
  constexpr std::string_view kAsked = R"({"pipelines.volcano.sh/retry": "true"})";
  server.news = {received(run("Running", kAsked, "Failed", "Failed")),
                 received(run("Running", "{}", "Running", "Running")),
                 received(run("Succeeded", "{}", "Succeeded", "Succeeded"))};
  EXPECT_EQ(pipeline({"retry", "old"}), 0) << world.err;
  EXPECT_EQ(shown + world.out,
            "run default/old is tried again\n   0s  say  RUNNING\n   0s  say  SUCCEEDED\nrun default/old SUCCEEDED\n");
  const api::Json& body = server.writes.back().body;
  EXPECT_EQ(body["metadata"]["resourceVersion"].as_string(), "7") << "it is written as it was read";
  EXPECT_EQ(body["status"]["phase"].as_string(), "Running");
  server.news = {received(run("Failed", "{}", "Failed", "Failed"))};
  EXPECT_EQ(pipeline({"retry", "old"}), 1) << "the result of the run";
  server.news.clear();
  EXPECT_EQ(pipeline({"retry", "old", "--no-wait"}), 0) << world.err;
}

TEST_F(PipelineTest, files_that_cannot_be_read_are_said) {
  EXPECT_NE(pipeline({"upload", "broken.yaml"}), 0);
  const std::string reported = shown + world.out + world.err;
  EXPECT_NE(reported.find("cannot upload broken.yaml: the pipeline is not YAML"), std::string::npos) << reported;
  EXPECT_NE(pipeline({"upload", "none.yaml"}), 0);
  EXPECT_NE(pipeline({"upload"}), 0);
  EXPECT_TRUE(server.writes.empty());
}

TEST_F(PipelineTest, run_of_a_file_gives_parameters_their_types) {
  EXPECT_EQ(pipeline({"run", "greeting.yaml", "-P", "words=a=b", "--param", "times=3", "--no-wait"}), 0) << world.err;
  ASSERT_EQ(server.writes.size(), 2u);
  EXPECT_EQ(api::name_of(server.writes[0].body), "default");
  const Json& spec = server.writes[1].body["spec"];
  EXPECT_EQ(spec["runtimeConfig"]["parameters"].dump(), R"({"words":"a=b","times":3})");
  EXPECT_EQ(spec["experimentName"].as_string(), "default");
  EXPECT_EQ(server.writes[1].body["metadata"]["generateName"].as_string(), "greeting-");
  for (const std::vector<std::string>& wrong : {std::vector<std::string>{"run", "greeting.yaml"},
                                                {"run", "greeting.yaml", "-P", "words"},
                                                {"run", "greeting.yaml", "-P", "words=a", "-P", "colour=red"},
                                                {"run", "greeting.yaml", "-P", "words=a", "-P", "times=x"},
                                                {"run"},
                                                {"run", "unknown"}})
    EXPECT_NE(pipeline(wrong), 0);
  EXPECT_EQ(server.writes.size(), 2u);
}

TEST_F(PipelineTest, a_run_is_shown_as_it_goes_and_gives_the_exit_status) {
  notify(1, task("root", "RUNNING"));
  notify(1, task("root.say", "PENDING", R"(, "message": "the queue is full")"));
  notify(1, task("root.say", "PENDING", R"(, "message": "the queue is full")"));
  notify(1, task("root.say", "RUNNING"));
  put_task("root.say", "FAILED", R"(, "error": "exit code 3")");
  notify(2, run_object("RUNNING"));
  notify(2, run_object("FAILED", "say: exit code 3"));
  EXPECT_EQ(pipeline({"run", "greeting.yaml", "-P", "words=a"}), 1);
  EXPECT_EQ(shown + world.out,
            "run default/ was made\n"
            "   0s  say  PENDING: the queue is full\n"
            "   0s  say  RUNNING\n"
            "   0s  say  FAILED: exit code 3\n"
            "run default/ FAILED: say: exit code 3\n");
}

TEST_F(PipelineTest, list_shows_runs_and_pipelines) {
  EXPECT_EQ(pipeline({"list"}), 0);
  EXPECT_EQ(shown + world.out, "No runs found\n");
  put_run("RUNNING");
  EXPECT_EQ(pipeline({"list"}), 0);
  EXPECT_NE((shown + world.out).find("greeting-x  RUNNING  2/3    60s"), std::string::npos) << shown + world.out;
  EXPECT_EQ(pipeline({"list", "--pipelines"}), 0);
  EXPECT_EQ(shown + world.out, "No pipelines found\n");
}

TEST_F(PipelineTest, graph_shows_a_file_and_a_run) {
  EXPECT_EQ(pipeline({"graph", "greeting.yaml"}), 0) << world.err;
  EXPECT_EQ(shown + world.out, "pipeline greeting\nTASK  KIND  AFTER\nsay   step  -\nbye   step  say\n");
  put_run("FAILED", "say: exit code 3");
  put_task("root", "FAILED");
  put_task("root.loop", "RUNNING");
  put_task("root.loop[10].say", "FAILED", R"(, "error": "exit code 3", "podName": "p")");
  put_task("root.loop[2].say", "SUCCEEDED");
  EXPECT_EQ(pipeline({"graph", "greeting-x"}), 0) << world.err;
  EXPECT_EQ(shown + world.out,
            "run default/greeting-x FAILED: say: exit code 3\n"
            "TASK   STATE      TIME  POD  REASON\n"
            "loop   RUNNING    5s    -    -\n"
            "  say  SUCCEEDED  5s    -    -\n"
            "  say  FAILED     5s    p    exit code 3\n");
}

TEST_F(PipelineTest, retry_and_terminate_ask_for_it) {
  put_run("RUNNING");
  EXPECT_NE(pipeline({"retry", "greeting-x"}), 0);
  EXPECT_EQ(pipeline({"terminate", "greeting-x"}), 0);
  ASSERT_EQ(server.writes.size(), 1u);
  EXPECT_EQ(server.writes[0].body.dump(), R"({"metadata":{"uid":"u"},"spec":{"terminate":true}})");
  put_run("FAILED");
  EXPECT_NE(pipeline({"terminate", "greeting-x"}), 0);
  EXPECT_EQ(pipeline({"retry", "greeting-x", "--no-wait"}), 0);
  EXPECT_EQ(server.writes[1].body["spec"].dump(), R"({"retries":1,"terminate":null})");
}

// A cluster may lack the definitions of one version, and a person the rights of one.
TEST_F(PipelineTest, the_list_has_the_runs_of_the_versions_that_there_are) {
  base::Code of_runs = base::Code::kNotFound, of_workflows = base::Code::kNotFound;
  server.answers_list = [&](const client::Request& request) -> base::Result<Json> {
    const bool is_run = request.resource == resources::kPipelineRuns;
    if (const base::Code code = is_run ? of_runs : of_workflows; code != base::Code::kInternal)
      return base::make_error(code, "refused");
    return Json::object({{"items", Json::array({*api::parse_json(run_object("SUCCEEDED"))})}});
  };
  EXPECT_NE(pipeline({"list"}), 0);
  EXPECT_NE((world.out + world.err).find("the cluster knows no runs of pipelines"), std::string::npos) << world.out;
  of_runs = base::Code::kInternal;  // as it is
  EXPECT_EQ(pipeline({"list"}), 0) << world.err;
  EXPECT_EQ(world.err, "");
  EXPECT_NE(world.out.find("greeting-x"), std::string::npos) << world.out;
  of_workflows = base::Code::kForbidden;
  EXPECT_EQ(pipeline({"list"}), 0);
  EXPECT_EQ(world.err, "Workflows are not shown: refused\n");
  of_runs = base::Code::kForbidden;
  EXPECT_NE(pipeline({"list"}), 0);
}

TEST_F(PipelineTest, logs_are_those_of_the_pods_of_tasks) {
  put_run("FAILED");
  put_task("root.say", "SUCCEEDED", R"(, "podName": "p1")");
  put_task("root.bye", "SUCCEEDED");
  server.news = {{.kind = Happening::Kind::kText, .stream = 1, .text = "hello\n"},
                 {.kind = Happening::Kind::kEnd, .stream = 1}};
  EXPECT_EQ(pipeline({"logs", "greeting-x"}), 0) << world.err;
  EXPECT_EQ(shown + world.out, "[say/main] hello\n");
  EXPECT_NE(pipeline({"logs", "greeting-x", "--task", "other"}), 0);
  EXPECT_NE(pipeline({"logs", "greeting-x", "--task", "bye"}), 0);
}

TEST_F(PipelineTest, ArtifactsAreListedAndSavedWithoutLeavingTheFolder) {
  put(resources::kPipelineRuns, R"({"metadata": {"name": "r", "namespace": "default", "uid": "run-uid"}, "spec": {}})");
  std::string made = task("root.make", "SUCCEEDED", R"(, "outputs": {"artifacts": {"../data": [
    {"type": {"schemaTitle": "system.Dataset"}, "uri": "minio://mlpipeline/a"}, {"uri": "minio://mlpipeline/b"}]}})");
  made.insert(made.find("\"name\""), R"("uid": "t1", "labels": {"pipelines.kubeflow.org/run": "r"}, )");
  made.insert(made.find("\"taskName\""), R"("type": "CONTAINER", )");
  put(resources::kPipelineTasks, made);
  EXPECT_EQ(pipeline({"artifacts", "r"}), 0) << world.err;
  EXPECT_EQ(world.out,
            "TASK  NAME        TYPE            PLACE\n"
            "make  ../data[0]  system.Dataset  minio://mlpipeline/a\n"
            "make  ../data[1]  -               minio://mlpipeline/b\n");
  const PipelineReader read = [](const std::string& target) -> base::Result<api::Json> {
    if (target != "/pipeline/apis/v2beta1/runs/run-uid/nodes/t1/artifacts/..%2Fdata:read?index=0")
      return base::make_error(base::Code::kInvalid, "it is too large");
    return api::parse_json(R"({"data": "aGVsbG8=", "size": 5, "archive": "tar"})");
  };
  world.open_pipelines = [&read](const std::string&, const std::string&,
                                 const std::string& ns) -> base::Result<PipelineReader> {
    EXPECT_EQ(ns, "default");
    return read;
  };
  world.write_file = [this](const std::string& path, const std::string& bytes) {
    written[path] = bytes;
    return base::Status();
  };
  EXPECT_EQ(pipeline({"artifacts", "r", "--download", "out"}), 255);
  EXPECT_EQ(written, (std::map<std::string, std::string>{{"out/make/_.._data-0.tar", "hello"}}));
  EXPECT_NE(world.err.find("../data of make: it is too large"), std::string::npos) << world.err;
}

}  // namespace
}  // namespace cli
