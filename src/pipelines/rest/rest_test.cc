// Requests of the REST API, from their text to the answer, over an API server of one screen.
#include <gtest/gtest.h>

#include "api/argo/v1alpha1/workflow.h"
#include "api/pipelines/v2beta1/pipeline.h"
#include "api/pipelines/v2beta1/recurring_run.h"
#include "base/format.h"
#include "pipelines/rest/body.h"
#include "pipelines/rest/documents.h"
#include "pipelines/rest/names.h"
#include "pipelines/rest/rest_for_tests.h"
#include "pipelines/rest/routes.h"
#include "rt/http/gzip.h"

namespace pipelines::rest {
namespace {

using testing::kIr;
using testing::Rest;

using api::Json;
namespace resources = api::resources;
using Lines = testing::Lines;

TEST(Rest, ARunWithoutAnAccountHasThatOfTheProfile) {
  testing::Rest rest;
  EXPECT_EQ(rest.run("one")["service_account"], api::Json());
  rest.api.put(
      api::resources::kServiceAccounts,
      *api::parse_json(
          R"({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default-editor", "namespace": "ns"}})"));
  EXPECT_EQ(rest.run("two")["service_account"].as_string(), "default-editor");
  EXPECT_EQ(rest.run("three", R"(, "service_account": "own")")["service_account"].as_string(), "own");
}

TEST(Rest, AnUploadMakesAPipelineAndItsFirstVersion) {
  Rest rest;
  const Json made = rest.upload("name=My%20Pipe&description=says&tags=%7B%22team%22:%22ml%22%7D");
  EXPECT_EQ(made["display_name"].as_string(), "My Pipe");
  EXPECT_EQ(made["tags"].dump(), R"({"team":"ml"})");
  const Json versions = rest.body("GET", "pipelines/" + made["pipeline_id"].str() + "/versions");
  ASSERT_EQ(versions["total_size"].as_int(), 1);
  EXPECT_EQ(versions["pipeline_versions"][std::size_t{0}]["pipeline_spec"], *api::parse_json(kIr));
  EXPECT_EQ(rest.body("GET", "pipelines/names/My%20Pipe")["pipeline_id"], made["pipeline_id"]);
  const Json& version = rest.api.table(resources::kPipelineVersions).begin()->second;
  EXPECT_EQ(version["metadata"]["ownerReferences"][std::size_t{0}]["uid"], made["pipeline_id"]);
}

TEST(Rest, AnUploadThatIsInterruptedLeavesNoPipelineWithoutAVersion) {
  for (std::size_t steps = 0; steps < 6; ++steps) {
    Rest rest;
    const auto upload = [&rest] {
      return rest.call("POST", "pipelines/upload?name=x", Rest::form(kIr), "multipart/form-data; boundary=xyz");
    };
    rest.steps_max = steps;
    const auto cut = upload();
    const auto& pipelines = rest.api.table(resources::kPipelines);
    EXPECT_LE(pipelines.size(), rest.api.table(resources::kPipelineVersions).size()) << steps;
    rest.steps_max = SIZE_MAX;
    const bool is_there = !pipelines.empty();
    EXPECT_EQ(upload().ok(), !is_there) << steps;
    EXPECT_EQ(pipelines.size(), 1U) << steps;
    EXPECT_EQ(rest.api.table(resources::kPipelineVersions).size(), 1U) << steps;
    EXPECT_EQ(cut.ok(), steps >= 4) << steps;
  }
}

TEST(Rest, APipelineThatIsRefusedTakesItsVersionAlong) {
  Rest rest;
  rest.api.forbids = [](const client::Request& request) {
    return request.verb == client::Verb::kCreate && request.resource == resources::kPipelines;
  };
  EXPECT_FALSE(rest.call("POST", "pipelines/upload?name=x", Rest::form(kIr), "multipart/form-data; boundary=xyz").ok());
  EXPECT_TRUE(rest.api.table(resources::kPipelineVersions).empty());
}

TEST(Rest, NamesAreKnownToOneWhoMayNotListWorkflows) {
  client::testing::FakeEnv env;
  client::testing::FakeClient api{env};
  api.forbids = [](const client::Request& request) { return request.resource == resources::kWorkflows; };
  api.put(resources::kPipelineRuns, *api::parse_json(R"({"metadata": {"name": "r", "namespace": "ns", "uid": "u"},
      "spec": {"displayName": "Mine", "pipelineSpec": {"large": 1}}})"));
  Index index(api, env, "");
  env.settle();
  EXPECT_TRUE(index.synced()) << index.trouble();
  const auto rows = index.rows(resources::kPipelineRuns, "ns");
  ASSERT_TRUE(rows && rows->size() == 1);
  EXPECT_EQ((*rows)[0]["spec"].dump(), R"({"displayName":"Mine"})");
  EXPECT_TRUE(index.rows(resources::kPipelineRuns, "n")->empty());
  Index of_one(api, env, "ns");
  EXPECT_FALSE(of_one.rows(resources::kPipelineRuns, "other").has_value());
}

TEST(Rest, AListReadsTheObjectsOfItsPageOnly) {
  Rest rest;
  for (const char* name : {"a", "b", "c"}) rest.run(name);
  rest.api.calls.clear();
  EXPECT_EQ(rest.names("page_size=2&sort_by=display_name%20desc"), (Lines{"c", "b"}));
  std::size_t read = 0;
  for (const client::Request& one : rest.api.calls) {
    read += one.verb == client::Verb::kGet ? 1 : 0;
    EXPECT_TRUE(one.verb != client::Verb::kList || one.limit == 1) << "a whole namespace is listed";
  }
  EXPECT_EQ(read, 2U);
}

TEST(Rest, AnArtifactOfAListIsReadUpToABound) {
  Rest rest;
  const std::string run = rest.run("one")["run_id"].str();
  const std::string name(api::name_of(rest.api.table(resources::kPipelineRuns).begin()->second));
  rest.api.put(
      resources::kPipelineTasks,
      *api::parse_json(base::format(
          R"({{"metadata": {{"name": "t", "namespace": "ns", "labels": {{"pipelines.kubeflow.org/run": "{}"}}}},
      "spec": {{"path": "root.say", "taskName": "say"}}, "status": {{"outputs": {{"artifacts": {{"a":
      [{{"uri": "minio://mlpipeline/x/0"}}, {{"uri": "minio://mlpipeline/x/1"}}, {{"uri": "s3://other/y"}}]}}}}}}}})",
          name)));
  rest.api.put(resources::kPersistentVolumeClaims,
               *api::parse_json(R"({"metadata": {"name": "mlpipeline-artifacts", "namespace": "ns"},
      "spec": {"volumeName": "v"}, "status": {"phase": "Bound"}})"));
  const std::string path = "runs/" + run + "/nodes/root.say/artifacts/a";
  auto first = rest.call("GET", path + ":read");
  ASSERT_TRUE(first.ok() && first->file);
  EXPECT_EQ(first->file->path, "x/0");
  EXPECT_EQ(first->file->bytes_max, 0U);
  auto second = rest.call("GET", path + ":read?index=1&max_bytes=100");
  ASSERT_TRUE(second.ok() && second->file);
  EXPECT_EQ(second->file->path, "x/1");
  EXPECT_EQ(second->file->bytes_max, 100U);
  auto page = rest.call("GET", path + ":view?index=1");
  ASSERT_TRUE(page.ok() && page->file);
  EXPECT_TRUE(page->file->is_page);
  for (const char* wrong :
       {":read?index=3", ":read?index=-1", ":read?index=2", ":read?max_bytes=0", ":read?max_bytes=x"})
    EXPECT_FALSE(rest.call("GET", path + wrong).ok()) << wrong;
  rest.api.forbids = [](const client::Request& request) {
    return request.resource == resources::kPersistentVolumeClaims;
  };
  EXPECT_FALSE(rest.call("GET", path + ":view").ok()) << "one who may not see the claim sees no file of it";
}

TEST(Rest, FilesThatAreRefusedLeaveNothing) {
  Rest rest;
  for (const std::string_view file : {"", "[", "1", "kind: Workflow", "pipelineInfo: {name: x}"}) {
    auto reply = rest.call("POST", "pipelines/upload?name=x", Rest::form(file), "multipart/form-data; boundary=xyz");
    EXPECT_FALSE(reply.ok()) << file;
  }
  EXPECT_TRUE(rest.api.table(resources::kPipelines).empty());
}

// Python's writer of YAML leaves y and n without quotes.
TEST(Rest, ParametersMayBeCalledYAndN) {
  const auto read = read_documents(R"(
pipelineInfo: {name: letters}
schemaVersion: 2.1.0
root:
  inputDefinitions: {parameters: {y: {parameterType: STRING, defaultValue: n}}}
  dag:
    tasks:
      one:
        componentRef: {name: comp-one}
        inputs: {parameters: {n: {componentInputParameter: y}}}
components:
  comp-one: {executorLabel: exec-one, inputDefinitions: {parameters: {n: {parameterType: STRING, isOptional: true}}}}
deploymentSpec: {executors: {exec-one: {container: {image: i}}}}
)");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->pipeline["root"]["inputDefinitions"]["parameters"].dump(),
            R"({"y":{"parameterType":"STRING","defaultValue":"n"}})");
}

TEST(Rest, OtherDocumentsAreNamedAsWhatTheyAre) {
  const auto refusal = [](std::string_view file) {
    const auto read = read_documents(file);
    return read.ok() ? std::string() : read.error().message.substr(0, 40);
  };
  EXPECT_EQ(refusal("name: x\nimplementation: {container: {image: i}}"), "this is the file of a component, and not");
  EXPECT_EQ(refusal("apiVersion: argoproj.io/v1alpha1\nkind: CronWorkflow"),
            "a CronWorkflow is not a pipeline: what i");
  EXPECT_EQ(refusal("apiVersion: v1\nkind: Pod"), "a Pod is not a pipeline: a compiled pipe");
  EXPECT_EQ(refusal("apiVersion: v1"), "schemaVersion: \"\" is not a version of co");
}

TEST(Rest, FormsAreReadAsTheyAreSent) {
  const std::string type = "multipart/form-data; boundary=\"xyz\"";
  EXPECT_EQ(form_file(type, Rest::form("a\r\nb"), "uploadfile")->bytes, "a\r\nb");
  EXPECT_EQ(form_file(type, "before" + std::string("\r\n") + Rest::form("a"), "uploadfile")->file_name, "a.yaml");
  for (const std::string& body :
       {std::string(), std::string("--xyz"), std::string("--xyz\r\n"), std::string("--xyz\r\n\r\n--xyz--"),
        Rest::form("a").substr(0, 60), std::string("--xyz\r\nContent-Disposition: x\r\n\r\n\r\n--xyz--")})
    EXPECT_FALSE(form_file(type, body, "uploadfile").ok()) << body;
  EXPECT_FALSE(form_file("multipart/form-data", Rest::form("a"), "uploadfile").ok());
}

// No bytes bring a reader of archives to anything but an error.
TEST(Rest, BrokenArchivesAreErrors) {
  std::string tar(512, '\0');
  tar.replace(0, 6, "a.yaml");
  tar.replace(124, 11, "00000000001");
  tar[156] = '0';
  tar.replace(257, 5, "ustar");
  tar += "x" + std::string(1535, '\0');
  EXPECT_EQ(*unpacked(*rt::gzip(tar)), "x");
  for (std::size_t size = 0; size < tar.size(); size += 7) (void)unpacked(*rt::gzip(tar.substr(0, size)));
  tar.replace(124, 11, "77777777777");
  EXPECT_FALSE(unpacked(*rt::gzip(tar)).ok());
  std::string zip("PK\x03\x04", 4);
  zip += std::string(40, '\0') + std::string("PK\x05\x06", 4) + std::string(18, '\xff');
  EXPECT_FALSE(unpacked(zip).ok());
  for (std::size_t at = 4; at < zip.size(); ++at) {
    std::string other = zip;
    other[at] = static_cast<char>(other[at] ^ 0x5a);
    EXPECT_FALSE(unpacked(other).ok()) << at;
  }
}

TEST(Rest, ARunWithoutExperimentGoesToDefault) {
  Rest rest;
  const Json run = rest.run("first");
  EXPECT_EQ(rest.body("GET", "experiments/" + run["experiment_id"].str())["display_name"].as_string(), "Default");
  EXPECT_EQ(rest.run("second")["experiment_id"], run["experiment_id"]);
  EXPECT_EQ(run["state"].as_string(), "PENDING");
  EXPECT_EQ(run["runtime_config"]["parameters"].dump(), R"({"words":"hi"})");
}

TEST(Rest, ParametersAreCheckedWhenARunIsMade) {
  Rest rest;
  const auto refused = [&rest](const std::string& parameters) {
    return rest.refusal("POST", "runs",
                        base::format(R"({{"display_name": "x", "pipeline_spec": {}, "runtime_config":
      {{"parameters": {}}}}})",
                                     kIr, parameters));
  };
  EXPECT_EQ(refused("{}"), "runtime_config.parameters: the pipeline greeting needs a value for words");
  EXPECT_EQ(refused(R"({"words": "a", "colour": 1})"),
            "runtime_config.parameters: the pipeline greeting has no parameter \"colour\"");
  EXPECT_TRUE(refused(R"({"words": "a", "times": "x"})").starts_with("runtime_config.parameters.times: "));
  EXPECT_TRUE(refused("[]").starts_with("runtime_config.parameters: "));
  EXPECT_TRUE(rest.api.table(resources::kPipelineRuns).empty());
}

TEST(Rest, TasksOfARunAreItsDetails) {
  Rest rest;
  const Json run = rest.run("r");
  const std::string name(api::name_of(rest.api.table(resources::kPipelineRuns).begin()->second));
  for (const auto& [path, parent, state] :
       {std::tuple("root", "", "RUNNING"), {"root.say", "root", "CACHED"}, {"root.fail", "root", "FAILED"}})
    rest.api.put(
        resources::kPipelineTasks,
        *api::parse_json(base::format(
            R"({{"metadata": {{"name": "{0}", "namespace": "ns"}}, "spec": {{"runName": "{1}", "taskName": "{0}",
                       "path": "{0}", "parentPath": "{2}"}}, "status": {{"state": "{3}", "error": "{4}", "podName": "p",
                       "outputs": {{"artifacts": {{"m": [{{"uri": "minio://m"}}]}}}}}}}})",
            path, name, parent, state, std::string_view(state) == "FAILED" ? "exit code 3" : "")));
  const Json details = rest.body("GET", "runs/" + run["run_id"].str())["run_details"]["task_details"];
  ASSERT_EQ(details.size(), 3U);
  EXPECT_EQ(details[std::size_t{0}]["child_tasks"].size(), 2U);
  EXPECT_EQ(details[std::size_t{1}]["error"]["message"].as_string(), "exit code 3");
  EXPECT_EQ(details[std::size_t{1}]["parent_task_id"], details[std::size_t{0}]["task_id"]);
  EXPECT_EQ(details[std::size_t{2}]["state"].as_string(), "SKIPPED");
  EXPECT_EQ(details[std::size_t{2}]["outputs"].dump(), R"({"m":{"artifact_ids":["minio://m"]}})");
  auto log = rest.call("GET", "runs/" + run["run_id"].str() + "/nodes/root.say/log?follow=true");
  ASSERT_TRUE(log.ok());
  EXPECT_EQ(log->pass, "/api/v1/namespaces/ns/pods/p/log?container=main&follow=true");
  EXPECT_FALSE(rest.call("GET", "runs/" + run["run_id"].str() + "/nodes/other/log").ok());
}

TEST(Rest, ArtifactsAreFilesOfTheClaimsVolume) {
  Rest rest;
  const Json run = rest.run("r");
  const std::string name(api::name_of(rest.api.table(resources::kPipelineRuns).begin()->second));
  rest.api.put(resources::kPipelineTasks,
               *api::parse_json(R"({"metadata": {"name": "t", "namespace": "ns"}, "spec": {"path": "root.t"},
    "status": {"outputs": {"artifacts": {"model": [{"uri": "minio://mlpipeline/v2/a/model"}], "far": [{"uri": "s3://b/k"}]}}}})"));
  const auto read = [&](const std::string& artifact) {
    return rest.call("GET", "runs/" + run["run_id"].str() + "/nodes/root.t/artifacts/" + artifact + ":read");
  };
  EXPECT_EQ(read("model").error().code, base::Code::kNotFound);  // there is no claim
  const auto claim = [&rest](std::string_view phase, std::string_view volume) {
    rest.api.put(resources::kPersistentVolumeClaims,
                 *api::parse_json(base::format(R"({{"metadata": {{"name": "mlpipeline-artifacts", "namespace": "ns"}},
                   "spec": {{"volumeName": "{}"}}, "status": {{"phase": "{}"}}}})",
                                               volume, phase)));
  };
  for (const auto& [phase, volume] :
       {std::pair("Pending", "v"), {"Bound", ""}, {"Bound", ".."}, {"Bound", "a/../.."}}) {
    claim(phase, volume);
    EXPECT_FALSE(read("model").ok()) << volume;
  }
  claim("Bound", "v");
  EXPECT_EQ(read("model")->file->volume, "v");
  EXPECT_EQ(read("model")->file->path, "v2/a/model");
  EXPECT_FALSE(read("far").ok());
  EXPECT_FALSE(read("other").ok());
}

TEST(Rest, ListsAreFilteredSortedAndCutIntoPages) {
  Rest rest;
  for (const char* name : {"c", "a", "d", "b"}) rest.run(name);
  EXPECT_EQ(rest.names(""), (Lines{"c", "a", "d", "b"}));  // as they were made
  EXPECT_EQ(rest.names("sort_by=display_name"), (Lines{"a", "b", "c", "d"}));
  EXPECT_EQ(rest.names("sort_by=name%20desc"), (Lines{"d", "c", "b", "a"}));
  const auto filtered = [&rest](const std::string& predicates) {
    return rest.names("sort_by=display_name&filter=" + rt::percent_encode(R"({"predicates": [)" + predicates + "]}"));
  };
  EXPECT_EQ(filtered(R"({"operation": "EQUALS", "key": "display_name", "stringValue": "a"})"), Lines{"a"});
  EXPECT_EQ(filtered(R"({"op": 6, "key": "name", "string_value": "c"})"), (Lines{"a", "b"}));
  EXPECT_EQ(filtered(R"({"operation": "IN", "key": "name", "string_values": {"values": ["a", "d", "x"]}})"),
            (Lines{"a", "d"}));
  EXPECT_EQ(
      filtered(R"({"operation": "GREATER_THAN", "key": "created_at", "timestamp_value": "2030-01-01T00:00:00Z"})"),
      Lines{});
  EXPECT_EQ(filtered(R"({"operation": "NOT_EQUALS", "key": "name", "string_value": "a"},
                        {"operation": "NOT_EQUALS", "key": "name", "string_value": "b"})"),
            (Lines{"c", "d"}));
  // A page begins behind the last row, whatever has come and gone.
  const Json first = rest.body("GET", "runs?page_size=2&sort_by=display_name");
  EXPECT_EQ(first["total_size"].as_int(), 4);
  rest.body("DELETE", "runs/" + first["runs"][std::size_t{0}]["run_id"].str());
  rest.run("aa");
  EXPECT_EQ(rest.names("page_size=2&page_token=" + first["next_page_token"].str()), (Lines{"c", "d"}));
  for (const char* query : {"sort_by=colour", "sort_by=name%20up", "page_size=-1", "page_size=x", "page_token=x",
                            "page_token=e30", "filter=x", "filter=%7B%22predicates%22:[1]%7D"})
    EXPECT_FALSE(rest.call("GET", std::string("runs?") + query).ok()) << query;
}

TEST(Rest, AnObjectIsTheOneThatItsIdNames) {
  Rest rest;
  const std::string id = rest.run("r")["run_id"].str();
  EXPECT_EQ(rest.refusal("GET", "runs/other"), "run other not found");
  // Its name is taken by another object in between.
  const Facts::Ids before = rest.ids;
  rest.ids.find = [](const api::ResourceId&, std::string_view) { return std::optional(ObjectKey{"ns", "r-1"}); };
  EXPECT_EQ(rest.refusal("GET", "runs/another"), "run another not found");
  rest.ids = before;
  EXPECT_EQ(rest.body("GET", "runs/" + id)["run_id"].as_string(), id);
}

TEST(Rest, RunsAreEndedAndTriedAgain) {
  Rest rest;
  const std::string id = rest.run("r")["run_id"].str();
  EXPECT_NE(rest.refusal("POST", "runs/" + id + ":retry").find("only one that failed"), std::string::npos);
  rest.body("POST", "runs/" + id + ":terminate");
  const auto object = [&rest] { return rest.api.table(resources::kPipelineRuns).begin()->second; };
  EXPECT_TRUE(object()["spec"]["terminate"].as_bool());
  Json ended = object();
  ended.set("status", Json::object({{"state", "FAILED"}}));
  rest.api.put(resources::kPipelineRuns, ended);
  EXPECT_NE(rest.refusal("POST", "runs/" + id + ":terminate").find("has ended already"), std::string::npos);
  rest.body("POST", "runs/" + id + ":retry");
  EXPECT_EQ(object()["spec"]["retries"].as_int(), 1);
  EXPECT_FALSE(object()["spec"].has("terminate"));
  rest.body("POST", "runs/" + id + ":archive");
  EXPECT_EQ(rest.body("GET", "runs/" + id)["storage_state"].as_string(), "ARCHIVED");
}

TEST(Rest, RecurringRuns) {
  Rest rest;
  const auto body = [](std::string_view trigger) {
    return base::format(
        R"({{"display_name": "n", "pipeline_spec": {}, "runtime_config": {{"parameters": {{"words": "x"}}}},
      "trigger": {}, "max_concurrency": "3"}})",
        kIr, trigger);
  };
  const Json made = rest.body("POST", "recurringruns", body(R"({"periodic_schedule": {"interval_second": "60"}})"));
  EXPECT_EQ(made["trigger"].dump(), R"({"periodic_schedule":{"interval_second":"60"}})");
  EXPECT_EQ(made["max_concurrency"].as_string(), "3");
  const std::string path = "recurringruns/" + made["recurring_run_id"].str();
  rest.body("POST", path + ":disable");
  EXPECT_EQ(rest.body("GET", path)["status"].as_string(), "DISABLED");
  for (const char* trigger : {"{}", R"({"cron_schedule": {"cron": "x"}})", R"({"periodic_schedule": {}})",
                              R"({"cron_schedule": {"cron": "0 3 * * *", "start_time": "x"}})"})
    EXPECT_TRUE(rest.refusal("POST", "recurringruns", body(trigger)).starts_with("trigger")) << trigger;
}

TEST(Rest, PathsAndMethods) {
  Rest rest;
  EXPECT_EQ(rest.refusal("GET", "nothing"), "/apis/v2beta1/nothing is not a path of this API");
  EXPECT_EQ(rest.refusal("PUT", "runs"), "PUT of /apis/v2beta1/runs is not a method here");
  EXPECT_EQ(rest.refusal("POST", "runs/x:dance"), "POST of /apis/v2beta1/runs/x:dance is not a method here");
  EXPECT_EQ(rest.refusal("POST", "runs/x/y:dance"), "/apis/v2beta1/runs/x/y:dance is not a path of this API");
  EXPECT_EQ(rest.body("GET", "healthz")["multi_user"].as_bool(), true);
}

TEST(Rest, NamesOfObjects) {
  EXPECT_EQ(object_name("train-it"), "train-it");
  EXPECT_EQ(object_name("Default"), "default");
  EXPECT_NE(object_name("Train it"), object_name("train it"));
  EXPECT_TRUE(object_name("Train it").starts_with("train-it-"));
  EXPECT_TRUE(object_name("<b>").starts_with("b-"));
  EXPECT_TRUE(object_name("日本").starts_with("x-"));
  EXPECT_LE(object_name(std::string(300, 'a')).size(), 63U);
  EXPECT_NE(version_object_name("p", "v1"), version_object_name("q", "v1"));
}

}  // namespace
}  // namespace pipelines::rest
