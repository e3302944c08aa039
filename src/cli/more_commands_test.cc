// jobflow and jobtemplate, and what Volcano's tools do not have: logs, wait, top, completion, -o.
#include "cli/fake_api_for_tests.h"

namespace cli {
namespace {

TEST_F(VcctlTest, jobflow_create_takes_every_document) {
  files["flows.yaml"] =
      "metadata: {name: a}\nspec: {flows: [{name: 'x---y'}]}\n---\n\n---\nmetadata: {name: b, namespace: ml}\n";
  EXPECT_EQ(run({"jobflow", "create", "-f", "flows.yaml"}), 0);
  EXPECT_EQ(world.out, "Created JobFlow: default/a\nCreated JobFlow: ml/b\n");
  ASSERT_EQ(server.writes.size(), 2u);
  EXPECT_EQ(server.writes[0].body["apiVersion"].as_string(), "flow.volcano.sh/v1alpha1");
  EXPECT_EQ(server.writes[0].body["spec"]["flows"].items()[0]["name"].as_string(), "x---y");
  EXPECT_EQ(server.writes[1].ns, "ml");
}

TEST_F(VcctlTest, jobflow_tables) {
  EXPECT_EQ(run({"jobflow", "list"}), 0);
  EXPECT_EQ(world.out, "No resources found\n");
  put(resources::kJobFlows, R"({"metadata": {"name": "flow", "namespace": "default", "managedFields": [{}],
    "creationTimestamp": "2026-08-20T02:00:00Z"}, "status": {"state": {"phase": "Running"}}})");
  EXPECT_EQ(run({"jobflow", "list", "--all-namespaces"}), 0);
  EXPECT_EQ(world.out, "Name    Namespace    Phase      Age    \nflow    default      Running    60m    \n");
  EXPECT_EQ(run({"jobflow", "get", "-N", "flow"}), 0);
  EXPECT_EQ(run({"jobflow", "describe", "-N", "flow"}), 0);
  EXPECT_EQ(world.out,
            "apiVersion: flow.volcano.sh/v1alpha1\nkind: JobFlow\nmetadata:\n  creationTimestamp: "
            "'2026-08-20T02:00:00Z'\n  name: flow\n  namespace: default\nstatus:\n  state:\n    phase: Running\n");
  EXPECT_EQ(run({"jobflow", "describe", "-N", "flow", "-o", "xml"}), 0);
  EXPECT_EQ(world.out, "Unsupported format: xml");
  EXPECT_EQ(run({"jobflow", "delete", "-N", "flow"}), 0);
  EXPECT_EQ(world.out, "Deleted JobFlow: default/flow\n");
}

TEST_F(VcctlTest, flow_errors) {
  struct Row {
    std::vector<std::string> arguments;
    int status;
    std::string_view text;
  };
  files["bad.yaml"] = "metadata: {name: gone}\n";
  files["odd.yaml"] =
      "metadata: {namespace: ml}\n---\nmetadata: {name: 5}\n---\nmetadata: {name: a/b}\n---\n"
      "kind: Job\nmetadata: {name: a}\n";
  files["list.yaml"] = "\nkind: List\nitems: [{metadata: {name: a}}]\n";
  const Row rows[] = {
      {{"jobflow", "delete"}, 255, "Failed to delete jobflow: jobflow name must be specified\n"},
      {{"jobtemplate", "delete"}, 255, "Failed to delete jobtemplate: job template name must be specified\n"},
      {{"jobflow", "get"}, 255, "Failed to get jobflow: name is mandatory to get the particular jobflow details\n"},
      {{"jobtemplate", "get"},
       255,
       "Failed to get jobtemplate: name is mandatory to get the particular job template details\n"},
      {{"jobflow", "create", "-f", "none"}, 255, "Failed to create jobflow: cannot open none\n"},
      {{"jobtemplate", "delete", "-f", "bad.yaml"},
       0,
       "Failed to delete JobTemplate: jobtemplates.flow.volcano.sh \"gone\" not found\n"},
      {{"jobflow", "delete", "-f", "odd.yaml"},
       0,
       "Failed to delete JobFlow: jobflow name must be specified\n"
       "Failed to delete JobFlow: metadata.name: 5 is not a text\n"
       "Failed to delete JobFlow: jobflows.flow.volcano.sh: \"a/b\" cannot be the name of an object\n"
       "Failed to delete JobFlow: kind: \"Job\" is not a JobFlow\n"},
      {{"jobflow", "delete", "-f", "list.yaml"},
       255,
       "Failed to delete jobflow: the document at line 2 of list.yaml is a List; each JobFlow is wanted as a document "
       "of its own\n"},
      {{"jobtemplate", "create", "-f", "list.yaml"},
       255,
       "Failed to create jobtemplate: the document at line 2 of list.yaml is a List; each JobTemplate is wanted as a "
       "document of its own\n"},
      {{"jobtemplate", "describe"}, 0, ""}};
  for (const Row& row : rows) {
    EXPECT_EQ(run(row.arguments), row.status) << row.text;
    EXPECT_EQ(world.out, row.text);
    EXPECT_TRUE(server.writes.empty());
  }
}

TEST_F(VcctlTest, lists_as_json_and_yaml) {
  put(resources::kQueues, R"({"metadata": {"name": "test"}})");
  EXPECT_EQ(run({"queue", "list", "-o", "yaml"}), 0);
  EXPECT_EQ(
      world.out,
      "apiVersion: v1\nitems:\n- apiVersion: scheduling.volcano.sh/v1beta1\n  kind: Queue\n  metadata:\n    name: "
      "test\nkind: List\n");
  EXPECT_EQ(run({"queue", "get", "-n", "test", "-o", "json"}), 0);
  EXPECT_TRUE(world.out.starts_with("{\n  \"apiVersion\": \"scheduling.volcano.sh/v1beta1\",\n")) << world.out;
  for (const char* noun : {"job", "pod", "jobflow", "jobtemplate"}) {
    EXPECT_EQ(run({noun, "list", "--output=json"}), 0);
    EXPECT_TRUE(world.out.find("\"items\": []") != std::string::npos) << world.out;
  }
  EXPECT_EQ(run({"queue", "list", "-o", "xml"}), 1);
  EXPECT_TRUE(world.err.ends_with(
      "Error: invalid argument \"xml\" for \"-o, --output\" flag: must be one of json|yaml|table\n"));
}

// A list in pages was cut off after the first.
TEST_F(VcctlTest, lists_follow_their_pages) {
  const auto page = [](const std::string& name, const std::string& next) {
    return *api::parse_json(base::format(R"({{"kind": "QueueList", "metadata": {{"continue": "{}"}}, "items":
        [{{"metadata": {{"name": "{}"}}, "spec": {{}}}}]}})",
                                         next, name));
  };
  server.answers_list = [&](const client::Request& request) -> base::Result<Json> {
    if (request.resource != resources::kQueues) return *api::parse_json(R"({"items": []})");
    return request.continue_token.empty() ? page("first", "t") : page("second", "");
  };
  EXPECT_EQ(run({"queue", "list"}), 0);
  EXPECT_NE(world.out.find("first"), std::string::npos);
  EXPECT_NE(world.out.find("second"), std::string::npos);
}

TEST_F(VcctlTest, lists_of_a_server_that_lies_end_with_an_error) {
  int asked = 0;
  const auto refusal_of = [&](const std::function<std::string(const client::Request&)>& answer) {
    asked = 0;
    server.answers_list = [&, answer](const client::Request& request) -> base::Result<Json> {
      ++asked;
      return *api::parse_json(answer(request));
    };
    EXPECT_NE(run({"job", "list"}), 0);
    return world.out + world.err;
  };
  const auto always = [](std::string text) { return [text](const client::Request&) { return text; }; };
  EXPECT_EQ(refusal_of(always(R"({"kind": "JobList", "metadata": {"continue": "again"}, "items": []})")),
            "Failed to list job: jobs: the list comes back to the page at \"again\"\n");
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(refusal_of([&](const client::Request&) {
              return base::format(R"({{"metadata": {{"continue": "{}"}}, "items": []}})", asked);
            }),
            "Failed to list job: jobs: there are more than 20000 pages\n");
  EXPECT_EQ(refusal_of(always(R"({"kind": "Status", "status": "Success"})")),
            "Failed to list job: jobs: the answer is not a list: {\"kind\":\"Status\",\"status\":\"Success\"}\n");
  EXPECT_EQ(refusal_of(always(R"({"items": [{"metadata": {"name": "a"}}, 5]})")),
            "Failed to list job: jobs: items[1] is not an object: 5\n");
  EXPECT_EQ(refusal_of(always(R"({"items": {}})")),
            "Failed to list job: jobs: the answer is not a list: {\"items\":{}}\n");
}

TEST_F(VcctlTest, job_wait) {
  struct Row {
    std::string_view goal;
    std::vector<std::string_view> phases;
    int status;
    std::string_view text;
  };
  const Row rows[] = {{"completed", {"Pending", "Running", "Completed"}, 0, "job default/job-1 is completed\n"},
                      {"failed", {"Failed"}, 0, "job default/job-1 is failed\n"},
                      {"running", {"Pending", "Running"}, 0, "job default/job-1 is running\n"},
                      {"completed",
                       {"Failed"},
                       255,
                       "cannot wait for job job-1: job default/job-1 ended as Failed, not as completed\n"}};
  for (const Row& row : rows) {
    server.streams = 0;
    server.news.clear();
    for (const std::string_view phase : row.phases) notify_job(1, phase);
    EXPECT_EQ(run({"job", "wait", "job-1", "--for", std::string(row.goal)}), row.status);
    EXPECT_EQ(world.out, row.text);
  }
  server.streams = 0;
  server.news = {{.kind = Happening::Kind::kCurrent, .stream = 1}};
  EXPECT_EQ(run({"job", "wait", "job-1"}), 255);
  EXPECT_EQ(world.out, "cannot wait for job job-1: jobs.batch.volcano.sh \"job-1\" not found\n");
  server.streams = 0;
  server.news = {{.kind = Happening::Kind::kCurrent, .stream = 1}};
  EXPECT_EQ(run({"job", "wait", "job-1", "--for=deleted"}), 0);
  world.now = [this] { return now = now + base::seconds(40); };
  server.streams = 0;
  for (int i = 0; i < 5; ++i) notify_job(1, "Running");
  EXPECT_EQ(run({"job", "wait", "job-1", "--timeout", "1m"}), 255);
  EXPECT_EQ(world.out, "cannot wait for job job-1: timed out after 1m0s\n");
  EXPECT_EQ(run({"job", "wait", "job-1", "--timeout", "soon"}), 1);
}

constexpr std::string_view kPod = R"({"metadata": {"name": "p", "namespace": "default", "uid": "u",
    "labels": {"volcano.sh/job-name": "job-1"}}, "status": {"containerStatuses": [{"name": "c", "containerID": "1",
    "state": {"terminated": {"exitCode": 0}}}, {"name": "late", "state": {"waiting": {}}}]}})";

TEST_F(VcctlTest, job_logs_prefixes_every_line) {
  put_job();
  put(resources::kPods, kPod);
  server.news = {{.kind = Happening::Kind::kText, .stream = 1, .text = "one\ntw"},
                 {.kind = Happening::Kind::kText, .stream = 1, .text = "o\nthree"},
                 {.kind = Happening::Kind::kEnd, .stream = 1}};
  EXPECT_EQ(run({"job", "logs", "job-1", "--tail", "5"}), 0);
  EXPECT_EQ(shown, "[p/c] one\n[p/c] two\n[p/c] three\n");
  ASSERT_EQ(server.logs.size(), 1u);
  EXPECT_EQ(server.logs[0].tail_lines, 5);
  EXPECT_EQ(run({"job", "logs", "job-1", "-c", "none"}), 0);
  EXPECT_EQ(world.err, "no container of job job-1 has started\n");
  EXPECT_EQ(run({"job", "logs", "other"}), 255);
}

TEST_F(VcctlTest, job_logs_follows_until_the_job_and_its_logs_end) {
  put_job();
  put(resources::kPods, kPod);
  const Json pod = *api::parse_json(kPod);
  // 1: pods, 2: the job, 3: the log.
  server.news = {{.kind = Happening::Kind::kObject, .stream = 1, .object = pod},
                 {.kind = Happening::Kind::kText, .stream = 3, .text = "a\n"},
                 {.kind = Happening::Kind::kObject, .stream = 1, .object = pod}};
  notify_job(2, "Completed");
  server.news.push_back({.kind = Happening::Kind::kText, .stream = 3, .text = "b\n"});
  server.news.push_back({.kind = Happening::Kind::kEnd, .stream = 3});
  EXPECT_EQ(run({"job", "logs", "job-1", "-f"}), 0);
  EXPECT_EQ(shown, "[p/c] a\n[p/c] b\n");
  EXPECT_EQ(server.logs.size(), 1u);  // told twice, read once
  EXPECT_EQ(server.followed[1].field_selector, "metadata.name=job-1");
}

TEST_F(VcctlTest, top_prints_one_page_into_a_pipe) {
  const auto notify = [&](int stream, std::string_view text) {
    server.news.push_back({.kind = Happening::Kind::kObject, .stream = stream, .object = *api::parse_json(text)});
  };
  notify(
      1,
      R"({"metadata": {"name": "test"}, "spec": {"weight": 2}, "status": {"state": "Open", "allocated": {"cpu": "4", "memory": "1Gi"}}})");
  notify(2, R"({"metadata": {"name": "g", "namespace": "default", "creationTimestamp": "2026-08-20T02:00:00Z"},
              "spec": {"queue": "test"}, "status": {"phase": "Inqueue", "conditions": [{"type": "Unschedulable",
              "status": "True", "message": "0/1 nodes are available"}]}})");
  notify(
      2,
      R"({"metadata": {"name": "r", "namespace": "default"}, "spec": {"queue": "test"}, "status": {"phase": "Running"}})");
  notify(3, R"({"metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "16", "memory": "64Gi"}}})");
  for (int stream = 1; stream <= 3; ++stream)
    server.news.push_back({.kind = Happening::Kind::kCurrent, .stream = stream});
  EXPECT_EQ(run({"top"}), 0);
  EXPECT_EQ(shown,
            "QUEUE  STATE  WEIGHT  SHARE    CPU  MEMORY  RUNNING  INQUEUE  PENDING\n"
            "test   Open   2       25% cpu  4    1Gi     1        1        0\n\n"
            "RUNNING    QUEUE  AGE  PODS\n"
            "default/r  test   -    0 running\n\n"
            "WAITING    QUEUE  AGE  REASON\n"
            "default/g  test   60m  0/1 nodes are available\n");
}

TEST_F(VcctlTest, completion_knows_commands_flags_and_choices) {
  for (const char* shell : {"bash", "zsh"}) {
    EXPECT_EQ(run({"completion", shell}), 0);
    for (const char* line :
         {"'vcctl') found='job ", "'vcctl queue operate') found='--name --weight --action ",
          "'vcctl job list -o') found='json yaml table'", "'vsub') found='--image ", " vsub vjobs vqueues"})
      EXPECT_NE(world.out.find(line), std::string::npos) << line << world.out;
  }
  EXPECT_EQ(run({"completion", "fish"}), 1);
}

}  // namespace
}  // namespace cli
