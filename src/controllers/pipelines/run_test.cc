// Runs of documents that the SDK compiled: what starts when, with which command, and how runs end.
#include <gtest/gtest.h>

#include <algorithm>

#include "api/pipelines/v2beta1/pipeline.h"
#include "api/pipelines/v2beta1/pipeline_run.h"
#include "base/format.h"
#include "controllers/pipelines/trial_for_tests.h"

namespace controllers::pipelines {
namespace {

using api::Json;
namespace resources = api::resources;
using Lines = std::vector<std::string>;

Json parse(std::string_view text) {
  auto parsed = api::parse_json(text);
  EXPECT_TRUE(parsed.ok()) << text;
  return parsed.ok() ? *parsed : Json();
}

// The report of a step of tests/pipelines/compile.py, by its name.
std::string usual(const std::string& path) {
  const std::string name = path.substr(path.rfind('.') + 1);
  const auto is = [&name](std::string_view prefix) { return name.starts_with(prefix); };
  if (is("greet")) return report_of({"hello " + name});
  if (is("add")) return report_of({}, R"({"parameterValues": {"Output": 7}})");
  if (is("total") || is("count")) return report_of({}, R"({"parameterValues": {"Output": 9}})");
  if (is("make"))
    return report_of({}, R"({"parameterValues": {"Output": [0, 1]}, "artifacts": {"metrics": {"artifacts": [
      {"name": "m", "uri": "minio://mlpipeline/m", "metadata": {"size": 2}}]}}})");
  if (is("use")) return report_of({}, R"({"parameterValues": {"Output": "xx"}})");
  if (is("fail")) return "!3";
  return report_of({});
}

std::ptrdiff_t starts(const Trial& trial, const std::string& path) {
  return std::count(trial.started.begin(), trial.started.end(), path);
}

TEST(PipelineRun, AStepStartsWhenItsInputsAreThere) {
  Trial trial;
  trial.run("hello", R"({"name": "you"})");
  EXPECT_EQ(trial.states(), (Lines{"root.greet=PENDING", "root=RUNNING"}));
  EXPECT_EQ(trial.command("root.greet").back(), "/tmp/kfp/outputs/parameters/text");
  EXPECT_EQ(trial.command("root.greet")[3], "you");
  const Json& pod = *trial.pod("root.greet");
  const Json& container = pod["spec"]["containers"][std::size_t{0}];
  EXPECT_EQ(container["command"].dump(), R"(["/kfp-launcher/launch"])");
  EXPECT_EQ(container["image"].as_string(), "busybox");
  EXPECT_EQ(pod["spec"]["schedulerName"].as_string(), "volcano");
  EXPECT_EQ(api::controller_of(pod)["kind"].as_string(), "PipelineTask");
  EXPECT_EQ(pod["spec"]["volumes"].size(), 2U);  // nothing reads or writes artifacts

  trial.play(usual);
  EXPECT_EQ(trial.state(), "SUCCEEDED") << trial.error();
  EXPECT_EQ(trial.states(), (Lines{"root.greet=SUCCEEDED", "root.say=SUCCEEDED", "root=SUCCEEDED"}));
  EXPECT_EQ(trial.command("root.say"), (Lines{"echo", "it says", "<hello greet>", "alone"}));
  EXPECT_EQ(trial.task("root.greet")["status"]["outputs"], parse(R"({"parameters": {"text": "hello greet"}})"));
  const Json& status = (*trial.world.find(resources::kPipelineRuns, "ns/r"))["status"];
  EXPECT_EQ(status["tasks"], parse(R"({"total": 2, "running": 0, "succeeded": 2, "failed": 0})"));
  EXPECT_EQ(status["stateHistory"].size(), 2U);
  EXPECT_FALSE(status["finishedAt"].as_string().empty());
}

TEST(PipelineRun, AContainerThatIsOnItsWayCostsNoWrite) {
  Trial trial;
  trial.run("hello");
  const auto wait = [&trial](const char* waiting) {
    trial.world.edit(resources::kPods, "ns/" + std::string(api::name_of(*trial.pod("root.greet"))))
        ->set("status",
              Json::object({{"phase", "Pending"},
                            {"containerStatuses",
                             parse(base::format(R"([{{"name": "main", "state": {{"waiting": {}}}}}])", waiting))}}));
    trial.settle();
    return trial.task("root.greet")["status"]["message"].str();
  };
  EXPECT_EQ(wait(R"({"reason": "ContainerCreating"})"), "");
  EXPECT_EQ(wait(R"({"reason": "ErrImagePull", "message": "no such image"})"), "ErrImagePull: no such image");
}

TEST(PipelineRun, ARestartAtAnyPointMakesNoStepTwice) {
  Trial trial;
  trial.run("hello");
  trial.restart();
  trial.settle();
  trial.end_pod("root.greet", report_of({"hi"}));
  trial.restart();
  trial.settle();
  trial.restart();
  trial.settle();
  trial.end_pod("root.say", report_of({}));
  trial.settle();
  EXPECT_EQ(trial.state(), "SUCCEEDED");
  EXPECT_EQ(trial.world.all(resources::kPods).size(), 2U);
}

struct Refusal {
  const char* parameters;
  const char* error;
};

TEST(PipelineRun, ParametersThatDoNotFitEndTheRun) {
  const Refusal refusals[] = {
      {R"({"nobody": 1})", "runtimeConfig.parameters.nobody: the pipeline has no such parameter"},
      {R"({"x": "three"})", R"(runtimeConfig.parameters.x: "three" is not a NUMBER_INTEGER)"},
  };
  for (const Refusal& refusal : refusals) {
    Trial trial;
    trial.run("branches", refusal.parameters);
    EXPECT_EQ(trial.state(), "FAILED");
    EXPECT_EQ(trial.error(), refusal.error);
    EXPECT_TRUE(trial.states().empty());
  }
}

TEST(PipelineRun, ADocumentThatCannotBeReadEndsTheRunWithItsPlace) {
  Trial trial;
  trial.run_document(parse(R"({"schemaVersion": "2.1.0", "pipelineInfo": {"name": "x"}, "root": {}})"), {}, "{}", "");
  EXPECT_EQ(trial.state(), "FAILED");
  EXPECT_EQ(trial.error(), "pipelineSpec: root.executorLabel: a name is required");
}

TEST(PipelineRun, OneBranchRunsAndItsOutputIsTheOneOf) {
  Trial trial;
  trial.run("branches", R"({"x": 3})");
  trial.end_pod("root.greet", report_of({"hello coin"}));
  trial.play(usual);
  EXPECT_EQ(trial.state(), "SUCCEEDED") << trial.error();
  EXPECT_EQ(trial.states(),
            (Lines{"root.condition-branches-1.condition-3.condition-2=SKIPPED",
                   "root.condition-branches-1.condition-3.greet-2=SUCCEEDED",
                   "root.condition-branches-1.condition-3=SUCCEEDED", "root.condition-branches-1.condition-4=SKIPPED",
                   "root.condition-branches-1.condition-5=SKIPPED", "root.condition-branches-1=SUCCEEDED",
                   "root.greet=SUCCEEDED", "root=SUCCEEDED"}));
  EXPECT_EQ(trial.task("root")["status"]["outputs"], parse(R"({"parameters": {"Output": "hello greet-2"}})"));
  EXPECT_EQ(trial.task("root.condition-branches-1")["spec"]["type"].as_string(), "CONDITIONS");
}

TEST(PipelineRun, TheElseBranchRunsWhereNoOtherDoes) {
  Trial trial;
  trial.run("branches");
  trial.end_pod("root.greet", report_of({"neither"}));
  trial.play(usual);
  EXPECT_EQ(trial.state(), "SUCCEEDED") << trial.error();
  EXPECT_EQ(trial.task_state("root.condition-branches-1.condition-5.greet-4"), "SUCCEEDED");
  EXPECT_EQ(trial.task("root")["status"]["outputs"], parse(R"({"parameters": {"Output": "hello greet-4"}})"));
}

TEST(PipelineRun, ALoopRunsSoManyTurnsAtATimeAndItsOutputsAreCollected) {
  Trial trial;
  trial.run("loops", R"({"items": [4, 5, 6]})");
  EXPECT_EQ(trial.task_state("root.for-loop-1[0].add"), "PENDING");
  EXPECT_EQ(trial.task_state("root.for-loop-1[1].add"), "PENDING");
  EXPECT_EQ(trial.task_state("root.for-loop-1[2].add"), "");
  EXPECT_EQ(trial.task("root.for-loop-1[1]")["spec"]["iteration"].as_int(), 1);
  trial.play(usual);
  EXPECT_EQ(trial.state(), "SUCCEEDED") << trial.error();
  EXPECT_EQ(trial.task("root.total")["status"]["inputs"], parse(R"({"parameters": {"values": [7, 7, 7]}})"));
  EXPECT_EQ(trial.task("root.count")["status"]["inputs"]["artifacts"]["data"].size(), 3U);
  EXPECT_EQ(trial.task("root")["status"]["outputs"], parse(R"({"parameters": {"sum": 9, "files": 9}})"));
  EXPECT_EQ(trial.task("root.for-loop-1[2].add")["status"]["inputs"], parse(R"({"parameters": {"a": 6, "b": 10}})"));
  EXPECT_EQ(trial.task("root.for-loop-1[0].for-loop-3[1].add-2")["status"]["inputs"],
            parse(R"({"parameters": {"a": 2, "b": 4}})"));
  EXPECT_EQ(trial.task_state("root.for-loop-1[0].inner.add"), "SUCCEEDED");
  // No turn has a copy of the list that it was taken from.
  EXPECT_FALSE(trial.task("root.for-loop-1[0]")["status"]["inputs"]["parameters"].has("pipelinechannel--items"));
}

// The SDK before 2.1 declares the list with the type of one turn.
TEST(PipelineRun, ALoopGivesAListWhateverItsOutputIsDeclaredToBe) {
  Json document = compiled("loops")[0];
  document.edit_path({"components", "comp-for-loop-1", "outputDefinitions", "parameters", "pipelinechannel--add-Output",
                      "parameterType"}) = "NUMBER_INTEGER";
  Trial trial;
  trial.run_document(document, {}, R"({"items": [4, 5]})", "");
  trial.play(usual);
  EXPECT_EQ(trial.state(), "SUCCEEDED") << trial.error();
  EXPECT_EQ(trial.task("root.total")["status"]["inputs"], parse(R"({"parameters": {"values": [7, 7]}})"));
}

TEST(PipelineRun, ALoopOverNothingGivesEmptyLists) {
  Trial trial;
  trial.run("loops", R"({"items": []})");
  trial.play(usual);
  EXPECT_EQ(trial.state(), "SUCCEEDED") << trial.error();
  EXPECT_EQ(trial.task("root.total")["status"]["inputs"], parse(R"({"parameters": {"values": []}})"));
}

TEST(PipelineRun, ALoopOverTooManyItemsFailsByName) {
  std::string items = "[0";
  for (int i = 0; i < 10'000; ++i) items += ",1";
  Trial trial;
  trial.run("loops", R"({"items": )" + items + "]}");
  EXPECT_EQ(trial.state(), "FAILED");
  EXPECT_EQ(trial.error(),
            "for-loop-1: inputs.parameters.pipelinechannel--items: the loop has 10001 items, which is more than 10000");
}

TEST(PipelineRun, AFailedStepIsTriedAgainAndTheExitHandlerRunsOnce) {
  Trial trial;
  trial.run("exits", R"({"text": "so long"})");
  trial.play(usual);
  EXPECT_EQ(trial.state(), "FAILED");
  EXPECT_EQ(trial.error(), "exit-handler-1: fail: exit code 3");
  EXPECT_EQ(trial.task("root.exit-handler-1.fail")["status"]["attempt"].as_int(), 2);
  EXPECT_EQ(starts(trial, "root.exit-handler-1.fail"), 3);
  EXPECT_EQ(starts(trial, "root.finish"), 1);
  EXPECT_EQ(trial.task_state("root.exit-handler-1.use"), "SUCCEEDED");
  const auto words = trial.command("root.finish");
  ASSERT_EQ(words.size(), 3U);
  EXPECT_EQ(words[2], "so long");
  const Json status = parse(words[1]);
  EXPECT_EQ(status["state"].as_string(), "FAILED");
  EXPECT_EQ(status["pipelineTaskName"].as_string(), "exit-handler-1");
  EXPECT_EQ(status["error"]["message"].as_string(), "fail: exit code 3");
}

// The SDK before 2.8 looks into the error of a status in any case.
TEST(PipelineRun, AnExitHandlerHasAnErrorAfterSuccessToo) {
  Trial trial;
  trial.run("exits");
  trial.play([](const std::string& path) { return path.ends_with(".fail") ? report_of({}) : usual(path); });
  EXPECT_EQ(trial.state(), "SUCCEEDED") << trial.error();
  const Json status = parse(trial.command("root.finish")[1]);
  EXPECT_EQ(status["state"].as_string(), "SUCCEEDED");
  EXPECT_TRUE(status["error"].is_object() && status["error"].empty()) << status.dump();
}

TEST(PipelineRun, TheRetryPolicyOfAGraphIsThatOfItsTasks) {
  Json document = compiled("exits")[0];
  document.edit_path({"components", "comp-exit-handler-1", "dag", "tasks", "fail"}).erase("retryPolicy");
  document.edit_path({"root", "dag", "tasks", "exit-handler-1", "retryPolicy"}) = parse(R"({"maxRetryCount": 3})");
  Trial trial;
  trial.run_document(document, {}, "{}", "");
  trial.play(usual);
  EXPECT_EQ(trial.state(), "FAILED");
  EXPECT_EQ(starts(trial, "root.exit-handler-1.fail"), 4);
  EXPECT_EQ(starts(trial, "root.finish"), 1);
}

TEST(PipelineRun, TheNextAttemptWaitsForItsPause) {
  Trial trial;
  trial.run("exits");
  trial.end_pod("root.exit-handler-1.fail", "!3");
  trial.settle();
  EXPECT_EQ(trial.task("root.exit-handler-1.fail")["status"]["message"].as_string(),
            "attempt 1 failed: exit code 3; the next one begins 1 s after it");
  trial.world.now = trial.world.now + base::seconds(1);
  trial.settle();
  EXPECT_EQ(trial.task("root.exit-handler-1.fail")["status"]["attempt"].as_int(), 1);
}

TEST(PipelineRun, AnImporterGivesAnArtifactWithoutAPod) {
  Trial trial;
  trial.run("exits", R"({"text": "t", "uri": "minio://mlpipeline/data"})");
  EXPECT_EQ(trial.task("root.exit-handler-1.importer")["status"]["outputs"]["artifacts"]["artifact"].dump(),
            R"([{"name":"artifact","type":{"schemaTitle":"system.Dataset","schemaVersion":"0.0.1"},)"
            R"("uri":"minio://mlpipeline/data","metadata":{"from":"t"}}])");
  Trial other;
  other.run("exits", R"({"uri": "minio://mlpipeline/../../etc/passwd"})");
  other.play(usual);
  EXPECT_EQ(other.task_state("root.exit-handler-1.importer"), "FAILED");
  EXPECT_EQ(other.task("root.exit-handler-1.importer")["status"]["error"].as_string(),
            R"(importer.artifactUri: "minio://mlpipeline/../../etc/passwd" leads out of the store)");
  EXPECT_EQ(other.task_state("root.exit-handler-1.use"), "");
  Trial local;
  local.run("exits", R"({"uri": "file:///etc/passwd"})");
  local.play(usual);
  EXPECT_EQ(local.task("root.exit-handler-1.importer")["status"]["error"].as_string(),
            R"(importer.artifactUri: "file:///etc/passwd" is not in a store: its scheme is none of gs, http, https, )"
            "huggingface, minio, oci and s3");
}

TEST(PipelineRun, AStepThatDidTheSameBeforeIsNotRunAgain) {
  Trial trial;
  trial.run("hello");
  trial.play(usual);
  const std::vector<Json> both = compiled("hello");
  trial.run_document(both[0], both[1], "{}", "", "second");
  EXPECT_EQ(trial.state("second"), "SUCCEEDED");
  EXPECT_EQ(trial.world.all(resources::kPods).size(), 2U);
  int cached = 0;
  for (const Json* one : trial.world.all(resources::kPipelineTasks))
    if ((*one)["status"]["state"].as_string() == "CACHED") {
      ++cached;
      EXPECT_FALSE((*one)["status"]["cachedFrom"].as_string().empty());
    }
  EXPECT_EQ(cached, 2);
  trial.run_document(both[0], both[1], R"({"name": "other"})", "", "third");
  EXPECT_EQ(trial.state("third"), "RUNNING");
}

TEST(PipelineRun, ARunThatIsToEndEndsItsPodsAndStartsNone) {
  Trial trial;
  trial.run("exits");
  trial.world.edit(resources::kPipelineRuns, "ns/r")->edit("spec").set("terminate", true);
  for (const Json* pod : trial.world.all(resources::kPods))
    trial.world.edit(resources::kPods, api::key_of(*pod))->edit("spec").set("nodeName", "n1");
  // Found by a world: groups without pods kept their place in the queue.
  const std::string group = "podgroup-" + std::string(api::uid_of(trial.task("root.exit-handler-1.fail")));
  trial.world.put_text(
      resources::kPodGroups,
      base::format(R"({{"kind": "PodGroup", "metadata": {{"name": "{}", "namespace": "ns"}}}})", group));
  trial.settle();
  EXPECT_EQ(trial.state(), "CANCELING");
  trial.world.gone();
  trial.settle();
  EXPECT_EQ(trial.state(), "CANCELED");
  EXPECT_EQ(trial.task_state("root.exit-handler-1.fail"), "CANCELED");
  EXPECT_EQ(trial.task_state("root.finish"), "");
  EXPECT_EQ(trial.world.find(resources::kPodGroups, "ns/" + group), nullptr);
}

TEST(PipelineRun, AnotherAttemptOfARunKeepsWhatSucceeded) {
  Trial trial;
  trial.run("exits");
  trial.play(usual);
  EXPECT_EQ(trial.state(), "FAILED");
  trial.world.edit(resources::kPipelineRuns, "ns/r")->edit("spec").set("retries", 1);
  trial.settle();
  EXPECT_EQ(trial.state(), "RUNNING");
  EXPECT_EQ(trial.task_state("root.exit-handler-1.fail"), "PENDING");
  EXPECT_EQ(trial.task_state("root.exit-handler-1.use"), "SUCCEEDED");
  trial.play([](const std::string&) { return report_of({}); });
  EXPECT_EQ(trial.state(), "SUCCEEDED") << trial.error();
  EXPECT_EQ((*trial.world.find(resources::kPipelineRuns, "ns/r"))["status"]["observedRetries"].as_int(), 1);
}

// Found by a world: a loop ended while the status of one of its steps could not be written, and the run ended with it.
TEST(PipelineRun, AGraphEndsAfterTheEndsOfItsTasksAreWritten) {
  Trial trial;
  trial.run("exits");
  trial.world.edit(resources::kPipelineRuns, "ns/r")->edit("spec").set("terminate", true);
  trial.world.deletes_pods_slowly = false;
  bool refuses = true;
  trial.world.refuse = [&refuses](const Action& action) -> std::optional<base::Error> {
    if (!refuses || action.verb != Action::Verb::kStatus || action.fate != "root.exit-handler-1.fail")
      return std::nullopt;
    return base::make_error(base::Code::kConflict, "somebody else wrote it");
  };
  for (int round = 0; round < 10; ++round) {
    const Plan plan = trial.controller->step(trial.world, "ns/r", {.now = trial.world.now});
    trial.controller->finished("ns/r", trial.world.apply(plan));
  }
  EXPECT_EQ(trial.task_state("root.exit-handler-1"), "RUNNING");
  EXPECT_EQ(trial.state(), "CANCELING");
  refuses = false;
  trial.settle();
  EXPECT_EQ(trial.task_state("root.exit-handler-1.fail"), "CANCELED");
  EXPECT_EQ(trial.task_state("root.exit-handler-1"), "CANCELED");
  EXPECT_EQ(trial.state(), "CANCELED");
}

TEST(PipelineRun, APodThatIsDeletedFailsItsStep) {
  Trial trial;
  trial.run("hello");
  trial.world.erase(resources::kPods, api::key_of(*trial.pod("root.greet")));
  trial.settle();
  EXPECT_EQ(trial.state(), "FAILED");
  EXPECT_TRUE(trial.error().ends_with("was deleted")) << trial.error();
}

// Found by a world: a plan that failed counted as an answer, and the exit handler ran beside the step.
TEST(PipelineRun, AQuestionWithoutAnAnswerSaysNothingOfAPod) {
  Trial trial;
  trial.run("hello");
  trial.world.erase(resources::kPods, api::key_of(*trial.pod("root.greet")));
  const Plan plan = trial.controller->step(trial.world, "ns/r", {.now = trial.world.now});
  EXPECT_NE(plan.text().find("fetch Pod"), std::string::npos) << plan.text();
  trial.controller->finished("ns/r", {.succeeded = false, .fetched = {Json()}});
  trial.world.apply(trial.controller->step(trial.world, "ns/r", {.now = trial.world.now}));
  EXPECT_EQ(trial.state(), "RUNNING");
  EXPECT_EQ(trial.task_state("root.greet"), "PENDING");
}

// Found by a world: a task that a killed controller had asked for came when its run had ended, and never ended.
TEST(PipelineRun, ATaskThatComesWhenItsRunHasEndedEndsToo) {
  Trial trial;
  trial.run("hello");
  trial.play(usual);
  EXPECT_EQ(trial.state(), "SUCCEEDED");
  Json late = trial.task("root.greet");
  late.edit("metadata").set("name", "late");
  late.edit("metadata").erase("uid");
  late.edit("metadata").set("resourceVersion", "1");
  late.edit("spec").set("path", "root.late");
  late.erase("status");
  trial.world.put(resources::kPipelineTasks, late);
  trial.settle();
  EXPECT_EQ(trial.task_state("root.late"), "CANCELED");
  EXPECT_EQ(trial.state(), "SUCCEEDED");
}

TEST(PipelineRun, AnOutputThatIsMissingOrDoesNotFitFailsTheStep) {
  const std::pair<std::string, std::string> cases[] = {
      {report_of({}), "greet: outputs.parameters.text: the command wrote no value"},
      {"kfp 1\nP 0 99\nx", "greet: the launcher's report is cut off, or was written by another program"},
      {"something else", "greet: the launcher's report is cut off, or was written by another program"},
      {report_of({"x"}, "{"), "greet: output_metadata.json is not a JSON object"}};
  for (const auto& [report, error] : cases) {
    Trial trial;
    trial.run("hello");
    trial.end_pod("root.greet", report);
    trial.settle();
    EXPECT_EQ(trial.state(), "FAILED");
    EXPECT_EQ(trial.error(), error);
  }
}

TEST(PipelineRun, ClaimsAreMadeMountedAndDeletedWithoutAPodOfTheirOwn) {
  Trial trial;
  trial.run("claims");
  const std::string claim = trial.task("root.createpvc")["status"]["outputs"]["parameters"]["name"].str();
  EXPECT_TRUE(claim.ends_with("-work")) << claim;
  const Json* made = trial.world.find(resources::kPersistentVolumeClaims, "ns/" + claim);
  ASSERT_NE(made, nullptr);
  EXPECT_EQ((*made)["spec"],
            parse(R"({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}})"));
  const Json& spec = (*trial.pod("root.greet"))["spec"];
  EXPECT_EQ(spec["volumes"][std::size_t{2}]["persistentVolumeClaim"]["claimName"].as_string(), claim);
  EXPECT_EQ(spec["containers"][std::size_t{0}]["volumeMounts"][std::size_t{2}]["mountPath"].as_string(), "/data");
  trial.play(usual);
  EXPECT_EQ(trial.state(), "SUCCEEDED") << trial.error();
  EXPECT_EQ(trial.world.find(resources::kPersistentVolumeClaims, "ns/" + claim), nullptr);
}

TEST(PipelineRun, ARunThatNamesAVersionTakesItsDocuments) {
  Trial trial;
  Json version = parse(R"({"kind": "PipelineVersion", "metadata": {"name": "v1", "namespace": "ns"},
                           "spec": {"pipelineName": "p"}})");
  version.edit("spec").set("pipelineSpec", compiled("hello")[0]);
  trial.world.put(resources::kPipelineVersions, version);
  trial.world.put_text(resources::kPipelineRuns, R"({"kind": "PipelineRun", "metadata": {"name": "r",
    "namespace": "ns", "uid": "U"}, "spec": {"pipelineVersionName": "v1"}})");
  trial.play(usual);
  EXPECT_EQ(trial.state(), "SUCCEEDED") << trial.error();
  EXPECT_EQ((*trial.world.find(resources::kPipelineRuns, "ns/r"))["spec"]["pipelineName"].as_string(), "p");
  Trial other;
  other.world.put_text(resources::kPipelineRuns, R"({"kind": "PipelineRun", "metadata": {"name": "r",
    "namespace": "ns", "uid": "U"}, "spec": {"pipelineVersionName": "v2"}})");
  other.settle();
  EXPECT_EQ(other.error(), "spec.pipelineVersionName: there is no PipelineVersion v2");
}

TEST(PipelineRun, APodThatIsRefusedFailsItsStepAlone) {
  Trial trial;
  trial.world.refuse = [](const Action& action) -> std::optional<base::Error> {
    if (action.verb != Action::Verb::kCreate || action.kind != "Pod") return std::nullopt;
    return base::make_error(base::Code::kForbidden, "no such pods here");
  };
  trial.run("hello");
  EXPECT_EQ(trial.state(), "FAILED");
  EXPECT_EQ(trial.error(), "greet: the pod is refused: no such pods here");
}

TEST(PipelineRun, TheQueueAndPriorityOfARunAreThoseOfItsPods) {
  Trial trial;
  trial.run("hello", "{}",
            R"(, "annotations": {"scheduling.volcano.sh/queue-name": "q",
                 "pipelines.volcano.sh/priority-class-name": "high"})");
  const Json& pod = *trial.pod("root.greet");
  EXPECT_EQ(api::annotation_of(pod, "scheduling.volcano.sh/queue-name"), "q");
  EXPECT_EQ(pod["spec"]["priorityClassName"].as_string(), "high");
}

}  // namespace
}  // namespace controllers::pipelines
