// v1beta1 from requests to objects: what version 1 of the SDK sends, and what is refused.
#include <gtest/gtest.h>

#include "api/argo/v1alpha1/workflow.h"
#include "api/pipelines/v2beta1/recurring_run.h"
#include "pipelines/argo/workflow_retry.h"
#include "pipelines/rest/rest_for_tests.h"
#include "pipelines/rest/v1beta1/routes.h"

namespace pipelines::rest::v1beta1 {
namespace {

using api::Json;
namespace resources = api::resources;

constexpr std::string_view kWorkflow =
    R"({"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "metadata": {"generateName": "greeting-"},
  "spec": {"entrypoint": "say", "serviceAccountName": "pipeline-runner",
    "arguments": {"parameters": [{"name": "words"}, {"name": "times", "value": "1"}]},
    "templates": [{"name": "say", "container": {"image": "busybox", "args": ["{{workflow.parameters.words}}"]}}]}})";

class V1beta1 : public ::testing::Test {
 protected:
  V1beta1() {
    rest.version = "v1beta1";
    rest.tables = routes();
  }
  Json run(const std::string& parameters = R"([{"name": "words", "value": "hi"}])") {
    return rest.body("POST", "runs", run_body(parameters))["run"];
  }
  static std::string run_body(const std::string& parameters, std::string_view document = kWorkflow) {
    return Json::object({{"name", "one"},
                         {"pipeline_spec", Json::object({{"workflow_manifest", document},
                                                         {"parameters", *api::parse_json(parameters)}})}})
        .dump();
  }
  const Json& workflow() { return rest.api.table(resources::kWorkflows).begin()->second; }
  void set_status(const Json& status) {
    Json changed = workflow();
    changed.set("status", status);
    rest.api.put(resources::kWorkflows, std::move(changed));
  }
  Json only_call(client::Verb verb, const api::ResourceId& resource) {
    Json body;
    int count = 0;
    for (const client::Request& one : rest.api.calls)
      if (one.verb == verb && one.resource == resource) {
        body = one.body;
        ++count;
      }
    EXPECT_EQ(count, 1);
    return body;
  }
  void end_as(std::string_view phase) {
    set_status(Json::object({{"phase", phase}, {"finishedAt", "2026-01-01T00:00:00Z"}}));
  }

  rest::testing::Rest rest;
};

TEST_F(V1beta1, RunsOfBothVersionsAreInEachList) {
  const std::string one = run()["id"].str();
  rest.version = "v2beta1";
  const std::string two = rest.run("two")["run_id"].str();
  end_as("Succeeded");
  const Json list = rest.body("GET", "runs?sort_by=created_at");
  EXPECT_EQ(list["total_size"].as_int(), 2);
  EXPECT_EQ(list["runs"][0]["run_id"].as_string(), one);
  EXPECT_EQ(list["runs"][0]["state"].as_string(), "SUCCEEDED");
  EXPECT_EQ(list["runs"][0]["runtime_config"]["parameters"].dump(), R"({"words":"hi","times":"1"})");
  EXPECT_EQ(list["runs"][1]["display_name"].as_string(), "two");
  EXPECT_EQ(rest.body("GET", "runs/" + one)["display_name"].as_string(), "one");
  rest.body("POST", "runs/" + one + ":archive");
  EXPECT_EQ(rest.body("GET", "runs/" + one)["storage_state"].as_string(), "ARCHIVED");
  EXPECT_EQ(rest.refusal("POST", "runs/" + one + ":terminate"), "the run one has ended already: Succeeded");
  rest.version = "v1beta1";
  const Json other = rest.body("GET", "runs?sort_by=name");
  EXPECT_EQ(other["runs"].size(), 2U);
  EXPECT_EQ(other["runs"][1]["id"].as_string(), two);
  EXPECT_EQ(other["runs"][1]["status"].as_string(), "Pending");
  EXPECT_EQ(rest.body("GET", "runs/" + two)["run"]["name"].as_string(), "two");
  rest.body("DELETE", "runs/" + two);
  EXPECT_EQ(rest.body("GET", "runs")["runs"].size(), 1U);
}

TEST_F(V1beta1, MetricsAreReportedOnce) {
  const std::string id = run()["id"].str();
  const std::string body =
      R"({"metrics": [{"name": "accuracy", "node_id": "n", "number_value": 0.5, "format": "PERCENTAGE"},
    {"name": "-", "node_id": "n", "number_value": 1}, {"name": "loss", "nodeId": "n", "numberValue": 2}, {"name": "loss", "node_id": "m"}]})";
  const auto statuses = [&] {
    std::string all;
    const Json answer = rest.body("POST", "runs/" + id + ":reportMetrics", body);
    for (const Json& one : answer["results"].items()) all += one["status"].str() + " ";
    return all;
  };
  EXPECT_EQ(statuses(), "OK INVALID_ARGUMENT OK INVALID_ARGUMENT ");
  EXPECT_EQ(statuses(), "DUPLICATE_REPORTING INVALID_ARGUMENT DUPLICATE_REPORTING INVALID_ARGUMENT ");
  EXPECT_EQ(rest.body("GET", "runs/" + id)["run"]["metrics"].dump(),
            R"([{"name":"accuracy","node_id":"n","number_value":0.5,"format":"PERCENTAGE"},)"
            R"({"name":"loss","node_id":"n","number_value":2,"format":"RAW"}])");
  EXPECT_EQ(rest.refusal("POST", "runs/none:reportMetrics", body).substr(0, 8), "run none");
}

TEST_F(V1beta1, ARunIsAWorkflowWithItsParameters) {
  const Json made = run();
  EXPECT_EQ(made["status"].as_string(), "Pending");
  EXPECT_EQ(made["id"].as_string(), api::uid_of(workflow()));
  const Json& parameters = workflow()["spec"]["arguments"]["parameters"];
  EXPECT_EQ(parameters.dump(), R"([{"name":"words","value":"hi"},{"name":"times","value":"1"}])");
  EXPECT_EQ(workflow()["metadata"]["annotations"]["pipelines.kubeflow.org/run_name"].as_string(), "one");
  EXPECT_TRUE(api::name_of(workflow()).starts_with("greeting-"));
  // No account of that name is there, nor that of a profile.
  EXPECT_EQ(workflow()["spec"]["serviceAccountName"].as_string(), "default");
}

TEST_F(V1beta1, TheAccountOfTheSdkIsTakenWhereItIs) {
  rest.api.put(resources::kServiceAccounts,
               *api::parse_json(R"({"metadata": {"name": "default-editor", "namespace": "ns"}})"));
  run();
  EXPECT_EQ(workflow()["spec"]["serviceAccountName"].as_string(), "default-editor");
}

TEST_F(V1beta1, RunsThatAreRefusedMakeNothing) {
  for (const auto& [parameters, words] : {std::pair("[]", "needs a value for words"),
                                          {R"([{"name": "x", "value": "1"}])", "no parameter \"x\""},
                                          {R"([{"value": "1"}])", "has no name"}}) {
    const std::string refused = rest.refusal("POST", "runs", run_body(parameters));
    EXPECT_NE(refused.find(words), std::string::npos) << refused;
  }
  const std::string ir =
      rest.refusal("POST", "runs", run_body(R"([{"name": "words", "value": "x"}])", rest::testing::kIr));
  EXPECT_NE(ir.find("version 2 of the SDK"), std::string::npos) << ir;
  EXPECT_NE(rest.refusal("POST", "runs", R"({"name": "x"})").find("needs a workflow_manifest"), std::string::npos);
  EXPECT_NE(rest.refusal("POST", "runs", "{}").find("name:"), std::string::npos);
  EXPECT_TRUE(rest.api.table(resources::kWorkflows).empty());
}

TEST_F(V1beta1, AnEndedRunIsNotEndedAgain) {
  const std::string path = "runs/" + run()["id"].str();
  rest.body("POST", path + "/terminate");
  EXPECT_EQ(workflow()["spec"]["shutdown"].as_string(), "Terminate");
  end_as("Failed");
  EXPECT_EQ(rest.refusal("POST", path + "/terminate"), "the run one has ended already: Failed");
}

TEST_F(V1beta1, ARetryIsWrittenDownAndTouchesNoPod) {
  const std::string path = "runs/" + run()["id"].str();
  EXPECT_EQ(rest.refusal("POST", path + "/retry"), "the run one is Pending: only one that failed is tried again");
  end_as("Failed");
  rest.api.calls.clear();
  rest.body("POST", path + "/retry");
  const Json body = only_call(client::Verb::kPatch, resources::kWorkflows);
  EXPECT_FALSE(body["metadata"]["resourceVersion"].as_string().empty());
  EXPECT_TRUE(argo::asks_for_retry(workflow())) << workflow().dump();
  EXPECT_EQ(workflow()["status"]["phase"].as_string(), "Running");
  EXPECT_FALSE(workflow()["status"].has("finishedAt"));
  for (const client::Request& one : rest.api.calls) EXPECT_NE(one.verb, client::Verb::kDelete) << one.name;
}

// A server that ends in the middle of it, whenever that is, has done all of it or nothing.
TEST_F(V1beta1, ARetryThatIsCutShortLosesNothing) {
  const std::string path = "runs/" + run()["id"].str();
  end_as("Failed");
  rest.api.put(resources::kPods, Json::object({{"metadata", Json::object({{"name", "b"}, {"namespace", "ns"}})}}));
  const std::string before = workflow().dump();
  for (rest.steps_max = 0; !rest.call("POST", path + "/retry").ok(); ++rest.steps_max) {
    ASSERT_LT(rest.steps_max, 10U);
    EXPECT_EQ(workflow().dump(), before) << "the one write is the last thing";
    EXPECT_NE(rest.api.find(resources::kPods, "ns/b"), nullptr);
  }
  EXPECT_TRUE(argo::asks_for_retry(workflow()));
}

TEST_F(V1beta1, ArtifactsOfAWorkflowAreReadAsThoseOfRuns) {
  const std::string id = run()["id"].str();
  set_status(*api::parse_json(R"({"phase": "Succeeded", "nodes": {"wf-1": {"id": "wf-1", "name": "wf.a", "type": "Pod",
    "phase": "Succeeded", "outputs": {"artifacts": [{"name": "page", "path": "/out/page", "s3": {"key": "artifacts/wf/wf-1/page"}}]}}}})"));
  rest.api.put(resources::kPersistentVolumeClaims,
               *api::parse_json(R"({"metadata": {"name": "mlpipeline-artifacts", "namespace": "ns"},
      "spec": {"volumeName": "v"}, "status": {"phase": "Bound"}})"));
  for (const char* version : {"v1beta1", "v2beta1"}) {
    rest.version = version;
    const std::string path = "runs/" + id + "/nodes/wf-1/artifacts/page";
    const auto page = rest.call("GET", path + ":view");
    ASSERT_TRUE(page.ok() && page->file) << version << ": " << page.error().message;
    EXPECT_EQ(page->file->path, "artifacts/wf/wf-1/page");
    EXPECT_TRUE(page->file->is_page);
    const auto head = rest.call("GET", path + ":read?max_bytes=100");
    ASSERT_TRUE(head.ok() && head->file) << version;
    EXPECT_EQ(head->file->bytes_max, 100U);
    EXPECT_EQ(rest.call("GET", path + ":read")->file->bytes_max, 0U);
    EXPECT_FALSE(rest.call("GET", path + ":read?max_bytes=x").ok());
    EXPECT_FALSE(rest.call("GET", "runs/" + id + "/nodes/wf-1/artifacts/none:view").ok());
  }
}

TEST_F(V1beta1, APatchOfAnObjectThatItsControllerWritesHasNoConflict) {
  const std::string path = "runs/" + run()["id"].str();
  rest.api.calls.clear();
  rest.body("POST", path + ":archive");
  const Json body = only_call(client::Verb::kPatch, resources::kWorkflows);
  EXPECT_EQ(body["metadata"]["uid"].as_string(), api::uid_of(workflow()));
  EXPECT_FALSE(body["metadata"].has("resourceVersion"));
}

TEST_F(V1beta1, APipelineShowsItsDefaultVersion) {
  const Json made = rest.upload("name=My%20Pipe", kWorkflow);
  EXPECT_EQ(made["default_version"]["name"].as_string(), "My Pipe");
  EXPECT_EQ(made["parameters"].dump(), R"([{"name":"words"},{"name":"times","value":"1"}])");
  const std::string id = made["id"].str(), first = made["default_version"]["id"].str();
  const auto second = rest.call("POST", "pipelines/upload_version?name=v2&pipelineid=" + id,
                                rest::testing::Rest::form(kWorkflow), "multipart/form-data; boundary=xyz");
  EXPECT_TRUE(second.ok());
  EXPECT_EQ(rest.body("GET", "pipelines/" + id)["default_version"]["name"].as_string(), "v2");
  rest.body("POST", "pipelines/" + id + "/default_version/" + first);
  EXPECT_EQ(rest.body("GET", "pipelines/" + id)["default_version"]["id"].as_string(), first);
  const Json listed = rest.body(
      "GET",
      R"(pipelines?filter={"predicates":[{"op":1,"key":"name","stringValue":"My%20Pipe"}]}&sort_by=name%20desc)");
  ASSERT_EQ(listed["pipelines"].size(), 1U);
  EXPECT_EQ(listed["pipelines"][std::size_t{0}]["id"].as_string(), id);
}

TEST_F(V1beta1, AJobKeepsTheDocument) {
  const std::string body = run_body(R"([{"name": "words", "value": "[[Index]]"}])");
  Json job = *api::parse_json(body);
  job.set("trigger", *api::parse_json(R"({"periodic_schedule": {"interval_second": "60"}})"));
  job.set("max_concurrency", "2");
  job.set("enabled", false);
  const Json made = rest.body("POST", "jobs", job.dump());
  EXPECT_EQ(made["mode"].as_string(), "DISABLED");
  const Json& spec = rest.api.table(resources::kRecurringRuns).begin()->second["spec"];
  EXPECT_EQ(spec["pipelineSpec"]["kind"].as_string(), "Workflow");
  EXPECT_EQ(spec["runtimeConfig"]["parameters"]["words"].as_string(), "[[Index]]");
}

TEST_F(V1beta1, OneWhoMayNotListSeesNothingOfTheIndex) {
  run();
  rest.api.forbids = [](const client::Request& request) { return request.verb == client::Verb::kList; };
  const std::string refused = rest.refusal("GET", "runs");
  EXPECT_EQ(refused.find("accepted"), std::string::npos) << refused;
}

}  // namespace
}  // namespace pipelines::rest::v1beta1
