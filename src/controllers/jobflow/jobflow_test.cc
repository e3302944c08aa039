// JobFlows: order, patches, probes, phases, lists and histories, and what is said of flows that cannot go on
// (controllers.md 10); JobTemplates' lists (11).
#include <gtest/gtest.h>

#include "base/format.h"
#include "controllers/framework/world_for_tests.h"
#include "controllers/jobflow/controller.h"
#include "controllers/metrics.h"

namespace controllers::jobflow {
namespace {

using api::Json;
namespace resources = api::resources;

Json parse(std::string_view text) {
  auto parsed = api::parse_json(text);
  EXPECT_TRUE(parsed.ok()) << text;
  return parsed.ok() ? *parsed : Json();
}

class JobFlowTest : public ::testing::Test {
 protected:
  JobFlowTest() {
    metrics.add(metric_rows());
    restart();
    world.use_indexes_of(*controller);
  }
  void restart() { controller = make_jobflow_controller(&metrics); }
  void put_template(std::string_view name,
                    std::string_view spec = R"({"queue": "q", "tasks": [{"name": "t", "replicas": 1}]})") {
    world.put_text(
        resources::kJobTemplates,
        base::format(R"({{"kind": "JobTemplate", "metadata": {{"name": "{}", "namespace": "ns"}}, "spec": {}}})", name,
                     spec));
  }
  // JobFlow ns/f with templates for the letters of `templates`.
  void put(std::string_view flows, std::string_view more = "", std::string_view templates = "abcd") {
    for (const char letter : templates) put_template(std::string(1, letter));
    world.put_text(resources::kJobFlows, base::format(R"({{"apiVersion": "flow.volcano.sh/v1alpha1", "kind": "JobFlow",
                     "metadata": {{"name": "f", "namespace": "ns", "uid": "F"}}, "spec": {{"flows": {}{}}}}})",
                                                      flows, more));
  }
  void settle() {
    for (int round = 0; round < 20; ++round) {
      const Plan plan = controller->step(world, "ns/f", {.now = world.now});
      look_again = plan.look_again();
      const bool asks = plan.text().find("probe ") != std::string::npos;
      controller->finished("ns/f", world.apply(plan));
      if (writes_nothing(plan) && !asks) return;
    }
    FAIL() << "never at rest";
  }
  void set_job(std::string_view name, std::string_view phase, std::string_view more = "") {
    Json* job = world.edit(resources::kJobs, base::format("ns/{}", name));
    ASSERT_NE(job, nullptr) << name;
    world.now = world.now + base::seconds(10);
    Json status = parse(base::format(R"({{"state": {{"phase": "{}", "lastTransitionTime": "{}"}}{}}})", phase,
                                     base::format_rfc3339(world.now), more));
    job->set("status", std::move(status));
    settle();
  }
  std::string jobs() const {
    std::string names;
    for (const Json* job : world.all(resources::kJobs))
      names += (names.empty() ? "" : " ") + std::string(api::name_of(*job));
    return names;
  }
  const Json& job(std::string_view name) { return *world.find(resources::kJobs, base::format("ns/{}", name)); }
  const Json& status() { return (*world.find(resources::kJobFlows, "ns/f"))["status"]; }
  std::string phase() { return status()["state"]["phase"].str(); }
  bool counted(std::string_view phase, int count) {
    return metrics.text().find(base::format("volcano_jobflow_{}_phase_count{{jobflow_namespace=\"ns\"}} {}\n", phase,
                                            count)) != std::string::npos;
  }
  std::string events() {
    std::string text;
    for (const std::string& one : world.events) text += (text.empty() ? "" : "\n") + one;
    world.events.clear();
    return text;
  }

  base::Metrics metrics;
  TestWorld world;
  std::unique_ptr<Controller> controller;
  std::optional<base::Duration> look_again;
};

constexpr std::string_view kDiamond = R"([{"name": "a"}, {"name": "b", "dependsOn": {"targets": ["a"]}},
    {"name": "c", "dependsOn": {"targets": ["a"]}}, {"name": "d", "dependsOn": {"targets": ["b", "c"]}}])";

TEST_F(JobFlowTest, a_diamond_from_pending_to_succeed) {
  put(kDiamond);
  settle();
  EXPECT_EQ(phase(), "Pending");
  ASSERT_EQ(jobs(), "f-a");
  EXPECT_EQ(events(), "Created: create a job named f-a!");
  EXPECT_EQ(job("f-a")["metadata"]["labels"].dump(),
            R"({"volcano.sh/createdByJobTemplate":"ns.a","volcano.sh/createdByJobFlow":"ns.f"})");
  EXPECT_EQ(job("f-a")["metadata"]["annotations"], job("f-a")["metadata"]["labels"]);
  EXPECT_EQ(api::controller_of(job("f-a")).sorted().dump(),
            R"({"apiVersion":"flow.volcano.sh/v1alpha1","blockOwnerDeletion":true,"controller":true,"kind":"JobFlow",)"
            R"("name":"f","uid":"F"})");
  EXPECT_EQ(job("f-a")["spec"].dump(), R"({"queue":"q","tasks":[{"name":"t","replicas":1}]})");
  set_job("f-a", "Running");
  EXPECT_EQ(phase(), "Running");
  EXPECT_EQ(jobs(), "f-a");
  set_job("f-a", "Completed");
  EXPECT_EQ(jobs(), "f-a f-b f-c");
  set_job("f-b", "Completed");
  EXPECT_EQ(jobs(), "f-a f-b f-c");
  set_job("f-c", "Completed");
  set_job("f-d", "Completed");
  EXPECT_EQ(phase(), "Succeed");
  EXPECT_TRUE(counted("succeed", 1)) << metrics.text();
  EXPECT_EQ(status()["completedJobs"].dump(), R"(["f-a","f-b","f-c","f-d"])");
}

TEST_F(JobFlowTest, lists_conditions_and_histories) {
  put(R"([{"name": "a"}, {"name": "b"}])");
  settle();
  const std::string t0 = job("f-a")["metadata"]["creationTimestamp"].str();
  set_job("f-a", "Pending");
  const std::string t1 = base::format_rfc3339(world.now);
  set_job("f-a", "Running", R"(, "taskStatusCount": {"t": {"phase": {"Running": 1}}}, "retryCount": 2)");
  const std::string t2 = base::format_rfc3339(world.now);
  EXPECT_EQ(status().sorted().dump(),
            parse(base::format(R"({{"conditions": {{"f-a": {{"createTime": "{0}", "phase": "Running",
                     "taskStatusCount": {{"t": {{"phase": {{"Running": 1}}}}}}}}, "f-b": {{"createTime": "{0}"}}}},
                   "jobStatusList": [{{"name": "f-a", "restartCount": 2, "runningHistories":
                       [{{"startTimestamp": "{1}", "endTimestamp": "{2}", "state": "Pending"}},
                        {{"startTimestamp": "{2}", "state": "Running"}}], "startTimestamp": "{0}", "state": "Running"}},
                     {{"name": "f-b", "startTimestamp": "{0}"}}],
                   "runningJobs": ["f-a"], "unKnowJobs": ["f-b"], "state": {{"phase": "Running"}}}})",
                               t0, t1, t2))
                .sorted()
                .dump());
  set_job("f-a", "Completed", R"(, "runningDuration": "7s")");
  const Json& entry = status()["jobStatusList"][std::size_t{0}];
  EXPECT_EQ(*base::parse_rfc3339(entry["endTimestamp"].as_string()) - *base::parse_rfc3339(t0), base::seconds(7));
  EXPECT_EQ(status()["conditions"]["f-a"]["runningDuration"].as_string(), "7s");
}

TEST_F(JobFlowTest, the_list_of_each_phase) {
  const std::pair<const char*, const char*> rows[] = {{"Pending", "pendingJobs"},
                                                      {"Running", "runningJobs"},
                                                      {"Failed", "failedJobs"},
                                                      {"Completed", "completedJobs"},
                                                      {"Terminated", "terminatedJobs"},
                                                      {"Aborting", "unKnowJobs"},
                                                      {"Aborted", "unKnowJobs"},
                                                      {"Restarting", "unKnowJobs"},
                                                      {"Completing", ""},
                                                      {"Terminating", ""}};
  for (const auto& [phase_of_job, list] : rows) {
    world.objects.clear();
    restart();
    put(R"([{"name": "a"}])");
    settle();
    set_job("f-a", phase_of_job);
    for (const char* one :
         {"pendingJobs", "runningJobs", "failedJobs", "completedJobs", "terminatedJobs", "unKnowJobs"})
      EXPECT_EQ(status()[one].size(), one == std::string_view(list) ? 1u : 0u) << phase_of_job << " " << one;
  }
}

TEST_F(JobFlowTest, a_failed_or_terminated_job_fails_the_flow) {
  for (const char* end : {"Failed", "Terminated"}) {
    world.objects.clear();
    restart();
    put(R"([{"name": "a"}, {"name": "b"}, {"name": "c", "dependsOn": {"targets": ["b"]}}])");
    settle();
    set_job("f-b", "Running");
    set_job("f-a", end);
    EXPECT_EQ(phase(), "Failed");
    set_job("f-b", "Completed");
    EXPECT_EQ(jobs(), "f-a f-b");  // nothing starts any more
    EXPECT_EQ(status()["completedJobs"].dump(), R"(["f-b"])");
  }
  EXPECT_TRUE(counted("failed", 2)) << metrics.text();
}

TEST_F(JobFlowTest, what_is_left_when_it_has_succeeded) {
  for (const char* policy : {"", R"(, "jobRetainPolicy": "retain")", R"(, "jobRetainPolicy": "delete")"}) {
    world.objects.clear();
    restart();
    put(R"([{"name": "a"}])", policy);
    settle();
    set_job("f-a", "Completed");
    EXPECT_EQ(phase(), "Succeed") << policy;
    EXPECT_EQ(jobs(), std::string_view(policy).find("delete") != std::string_view::npos ? "" : "f-a") << policy;
    EXPECT_EQ(status()["completedJobs"].dump(), R"(["f-a"])");
  }
}

// COMPAT(jobflow-collected)
TEST_F(JobFlowTest, jobs_that_somebody_deletes) {
  put(R"([{"name": "a"}, {"name": "b", "dependsOn": {"targets": ["a"]}}])");
  settle();
  set_job("f-a", "Running");
  world.erase(resources::kJobs, "ns/f-a");
  settle();
  EXPECT_EQ(jobs(), "f-a");  // made again
  set_job("f-a", "Completed");
  world.erase(resources::kJobs, "ns/f-a");
  settle();
  EXPECT_EQ(jobs(), "f-b");  // done is done
  EXPECT_EQ(status()["completedJobs"].dump(), R"(["f-a"])");
  set_job("f-b", "Completed");
  EXPECT_EQ(phase(), "Succeed");
}

TEST_F(JobFlowTest, templates_that_are_missing_come_later_or_vanish) {
  put(R"([{"name": "z"}, {"name": "a"}, {"name": "b", "dependsOn": {"targets": ["a"]}}])");
  for (int look = 0; look < 3; ++look) settle();
  EXPECT_EQ(jobs(), "f-a");
  EXPECT_EQ(events(),
            "SyncJobFlow: SyncJobFlow JobFlow failed for jobtemplate.flow.volcano.sh \"z\" not found\n"
            "Created: create a job named f-a!");
  put_template("z");
  settle();
  EXPECT_EQ(jobs(), "f-a f-z");
  world.erase(resources::kJobTemplates, "ns/b");
  set_job("f-a", "Completed");
  EXPECT_EQ(events(),
            "Created: create a job named f-z!\n"
            "SyncJobFlow: SyncJobFlow JobFlow failed for jobtemplate.flow.volcano.sh \"b\" not found");
  set_job("f-z", "Completed");
  EXPECT_EQ(phase(), "Running");
}

TEST_F(JobFlowTest, graphs_that_admission_would_refuse) {
  put(R"([{"name": "a", "dependsOn": {"targets": ["b"]}}, {"name": "b", "dependsOn": {"targets": ["a"]}}, {"name": "c"},
          {"name": "d", "dependsOn": {"targets": ["nobody"]}}])");
  for (int look = 0; look < 3; ++look) settle();
  EXPECT_EQ(jobs(), "f-c");
  EXPECT_EQ(events(),
            "SyncJobFlow: SyncJobFlow JobFlow failed for flow a waits for flows that can never complete before it\n"
            "SyncJobFlow: SyncJobFlow JobFlow failed for flow b waits for flows that can never complete before it\n"
            "Created: create a job named f-c!\n"
            "SyncJobFlow: SyncJobFlow JobFlow failed for flow d waits for nobody, which is not a flow");
}

// A chain of ten thousand, written last first: each look costs what it is long, not its square.
TEST_F(JobFlowTest, a_long_chain) {
  std::string flows = "[";
  for (int i = 10'000; i > 0; --i)
    flows += base::format(R"({{"name": "n{}", "dependsOn": {{"targets": ["n{}"]}}}},)", i, i - 1);
  put(flows + R"({"name": "n0"}])", "", "");
  for (const char* name : {"n0", "n1"}) put_template(name);
  settle();
  EXPECT_EQ(jobs(), "f-n0");
  set_job("f-n0", "Completed");
  EXPECT_EQ(jobs(), "f-n0 f-n1");
}

TEST_F(JobFlowTest, one_job_that_is_refused_holds_up_no_other) {
  put(R"([{"name": "a"}, {"name": "b"}])");
  world.refuse = [](const Action& action) -> std::optional<base::Error> {
    if (action.name != "f-a") return std::nullopt;
    return base::make_error(base::Code::kDenied, "the queue is closed");
  };
  for (int look = 0; look < 4; ++look) world.turn(*controller, "ns/f");
  EXPECT_EQ(jobs(), "f-b");
  EXPECT_EQ(events(),
            "Created: create a job named f-b!\nSyncJobFlow: SyncJobFlow JobFlow failed for the queue is closed");
  world.refuse = nullptr;
  settle();
  EXPECT_EQ(jobs(), "f-a f-b");
}

TEST_F(JobFlowTest, a_job_of_somebody_else_has_the_name) {
  put(R"([{"name": "a"}])");
  world.put_text(resources::kJobs, R"({"kind": "Job", "metadata": {"name": "f-a", "namespace": "ns"},
                                       "status": {"state": {"phase": "Completed"}}})");
  settle();
  EXPECT_EQ(events(), "SyncJobFlow: SyncJobFlow JobFlow failed for job ns/f-a exists and does not belong to the flow");
  EXPECT_EQ(phase(), "");  // the first one comes a second later
  world.erase(resources::kJobs, "ns/f-a");
  settle();
  EXPECT_EQ(events(), "Created: create a job named f-a!");
}

// COMPAT(jobflow-long-labels)
TEST_F(JobFlowTest, labels_that_would_be_too_long) {
  const std::string name(62, 'n');
  put_template(name);
  world.put_text(resources::kJobFlows,
                 base::format(R"({{"kind": "JobFlow", "metadata": {{"name": "f", "namespace": "ns",
      "uid": "F"}}, "spec": {{"flows": [{{"name": "{}"}}]}}}})",
                              name));
  settle();
  const Json& made = *world.all(resources::kJobs).at(0);
  EXPECT_EQ(made["metadata"]["labels"].dump(), R"({"volcano.sh/createdByJobFlow":"ns.f"})");
  EXPECT_EQ(api::annotation_of(made, "volcano.sh/createdByJobTemplate"), "ns." + name);
  EXPECT_EQ(events().find(base::format("SyncJobFlow: SyncJobFlow JobFlow failed for job f-{0} goes without the label "
                                       "volcano.sh/createdByJobTemplate=ns.{0}, which is longer than 63 characters",
                                       name)),
            0u);
}

TEST_F(JobFlowTest, a_patch_is_laid_over_the_template) {
  put_template("a", R"({"queue": "q", "minAvailable": 3, "maxRetry": 5, "plugins": {"svc": []},
      "policies": [{"event": "PodFailed", "action": "RestartJob"}],
      "volumes": [{"mountPath": "/data", "volumeClaimName": "one"}],
      "tasks": [{"name": "m", "replicas": 1, "template": {"spec": {"containers": [{"name": "c", "image": "i",
                   "env": [{"name": "A", "value": "1"}]}]}}}, {"replicas": 2}]})");
  put(R"([{"name": "a", "patch": {"jobSpec": {"minAvailable": 4, "priorityClassName": "high", "plugins": {"ssh": []},
      "policies": [], "volumes": [{"mountPath": "/data", "volumeClaimName": "two"}],
      "tasks": [{"name": "m", "template": {"spec": {"containers": [{"name": "c", "env": [{"name": "B", "value": "2"}]}]}}},
                {"name": "default1", "replicas": 3}, {"name": "extra", "replicas": 1}]}}}])",
      "", "");
  settle();
  EXPECT_EQ(job("f-a")["spec"].sorted().dump(), parse(R"({"queue": "q", "minAvailable": 4, "maxRetry": 5,
      "priorityClassName": "high", "plugins": {"svc": [], "ssh": []}, "policies": [],
      "volumes": [{"mountPath": "/data", "volumeClaimName": "two"}],
      "tasks": [{"name": "m", "replicas": 1, "template": {"spec": {"containers": [{"name": "c", "image": "i",
                   "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]}]}}},
                {"name": "default1", "replicas": 3}, {"name": "extra", "replicas": 1}]})")
                                                    .sorted()
                                                    .dump());
}

TEST_F(JobFlowTest, patches_that_make_no_sense) {
  put(R"([{"name": "a", "patch": {"jobSpec": {"tasks": [{"replicas": 3}]}}}, {"name": "b", "patch": {"jobSpec": "text"}},
          {"name": "c", "patch": {"jobSpec": {}}}])");
  settle();
  EXPECT_EQ(jobs(), "f-c");
  const std::string warned = events();
  EXPECT_NE(warned.find("SyncJobFlow JobFlow failed for patch of flow a: "), std::string::npos) << warned;
  EXPECT_NE(warned.find("SyncJobFlow JobFlow failed for patch of flow b: jobSpec is not an object"), std::string::npos)
      << warned;
}

TEST_F(JobFlowTest, patches_that_keep_all_controllers_waiting) {
  std::string variables = R"({"name": "V"})";
  for (int i = 0; i < 2000; ++i) variables += base::format(R"(, {{"name": "V{}"}})", i);
  constexpr std::string_view kTask =
      R"({{"name": "t", "template": {{"spec": {{"containers": [{{"name": "c", "env": [{}]}}]}}}}}})";
  std::string tasks = base::format(kTask, R"({"name": "V7"})");
  for (int i = 0; i < 7; ++i) tasks += ", " + tasks;  // 128
  std::string flows;
  for (const char name : std::string_view("bcdefg")) {
    put_template(std::string(1, name), base::format(R"({{"tasks": [{}]}})", base::format(kTask, variables)));
    flows += base::format(R"({{"name": "{}", "patch": {{"jobSpec": {{"tasks": [{}]}}}}}}, )", name, tasks);
  }
  put(base::format(R"([{{"name": "a"}}, {}{{"name": "h"}}])", flows), "", "ah");
  settle();
  EXPECT_EQ(jobs(), "f-a");
  const std::string warned = events();
  EXPECT_NE(warned.find("SyncJobFlow JobFlow failed for patch of flow e: the strategic merge patch takes more than "
                        "1048576 steps of work: it stopped at an item with name \"V7\""),
            std::string::npos)
      << warned;
  EXPECT_EQ(warned.find("patch of flow f: "), std::string::npos);
  EXPECT_EQ(look_again, base::seconds(10));
}

class ProbeTest : public JobFlowTest {
 protected:
  // Flow a with a task of two pods, and b behind this probe.
  void begin(std::string_view probe) {
    put_template("a", R"({"tasks": [{"name": "t", "replicas": 2}]})");
    put(base::format(R"([{{"name": "a"}}, {{"name": "b", "dependsOn": {{"targets": ["a"], "probe": {}}}}}])", probe),
        "", "b");
    settle();
    set_job("f-a", "Running");
  }
  void put_pod(int index, std::string_view ip, std::string_view owner = "") {
    const std::string uid = owner.empty() ? std::string(api::uid_of(job("f-a"))) : std::string(owner);
    world.put_text(resources::kPods,
                   base::format(R"({{"kind": "Pod", "metadata": {{"name": "f-a-t-{0}", "namespace": "ns", "uid": "P{0}",
          "ownerReferences": [{{"kind": "Job", "name": "f-a", "uid": "{1}", "controller": true}}]}},
          "status": {{"phase": "Running", "podIP": "{2}"}}}})",
                                index, uid, ip));
  }
  std::string look() { return world.turn(*controller, "ns/f"); }
};

TEST_F(ProbeTest, every_pod_has_to_answer) {
  begin(
      R"({"httpGetList": [{"taskName": "t", "path": "/ready", "port": 80, "httpHeader": {"name": "X", "value": "y"}}]})");
  EXPECT_EQ(look_again, base::seconds(10));  // no pods
  put_pod(0, "10.0.0.1");
  put_pod(1, "10.0.0.2");
  EXPECT_EQ(look(), "probe address 10.0.0.1:80/ready\nprobe address 10.0.0.2:80/ready\n");
  EXPECT_EQ(look(), "");  // not so soon
  world.listening = {"10.0.0.1:80/ready"};
  world.now = world.now + base::seconds(1);
  EXPECT_EQ(look(), "probe address 10.0.0.1:80/ready\nprobe address 10.0.0.2:80/ready\n");
  world.listening = {"10.0.0.2:80/ready"};
  world.now = world.now + base::seconds(1);
  EXPECT_EQ(look(), "");                                   // a longer pause
  world.now = world.now - base::hours(3);                  // the clock is set back
  EXPECT_EQ(look(), "probe address 10.0.0.2:80/ready\n");  // the other has answered
  settle();
  EXPECT_EQ(jobs(), "f-a f-b");
}

TEST_F(ProbeTest, questions_that_differ_in_a_header_are_two) {
  begin(R"({"httpGetList": [{"taskName": "t", "path": "/", "port": 80, "httpHeader": {"name": "Host", "value": "a"}},)"
        R"({"taskName": "t", "path": "/", "port": 80, "httpHeader": {"name": "Host", "value": "b"}}]})");
  put_pod(0, "10.0.0.1");
  put_pod(1, "10.0.0.2");
  const std::string both = "probe address 10.0.0.1:80/\nprobe address 10.0.0.2:80/\n";
  EXPECT_EQ(look(), both + both);
}

TEST_F(ProbeTest, ports_are_connected_to) {
  begin(R"({"tcpSocketList": [{"taskName": "t", "port": 7}]})");
  world.listening = {"10.0.0.1:7", "10.0.0.2:7"};
  put_pod(0, "10.0.0.1");
  settle();
  EXPECT_EQ(jobs(), "f-a");
  put_pod(1, "10.0.0.2");
  settle();
  EXPECT_EQ(jobs(), "f-a f-b");
}

TEST_F(ProbeTest, task_statuses) {
  struct Row {
    const char* phase;
    const char* counts;
    bool starts;
  };
  const Row rows[] = {{"Running", R"("Running": 1)", false},
                      {"Running", R"("Running": 2)", true},
                      {"Running", R"("Running": 1, "Succeeded": 1)", true},
                      {"Succeeded", R"("Succeeded": 1, "Failed": 1)", false},
                      {"Completed", R"("Succeeded": 2)", true}};
  for (const Row& row : rows) {
    world.objects.clear();
    restart();
    begin(base::format(R"({{"taskStatusList": [{{"taskName": "t", "phase": "{}"}}]}})", row.phase));
    EXPECT_EQ(jobs(), "f-a");
    set_job("f-a", "Running", base::format(R"(, "taskStatusCount": {{"t": {{"phase": {{{}}}}}}})", row.counts));
    EXPECT_EQ(jobs(), row.starts ? "f-a f-b" : "f-a") << row.phase << " " << row.counts;
  }
}

// Each entry for each task would be hours.
TEST_F(ProbeTest, entries_and_tasks_may_be_many) {
  std::string tasks, counts, same, other;
  for (int i = 0; i < 9'000; ++i) {
    const char* comma = i == 0 ? "" : ", ";
    tasks += base::format(R"({}{{"name": "t{}", "replicas": 1}})", comma, i);
    counts += base::format(R"({}"t{}": {{"phase": {{"Running": 1}}}})", comma, i);
    same += base::format(R"({}{{"taskName": "", "phase": "Running"}})", comma);
    other += base::format(R"({}{{"taskName": "t{}", "phase": "Running"}})", comma, i);
  }
  put_template("a", base::format(R"({{"tasks": [{}]}})", tasks));
  put(base::format(R"([{{"name": "a"}}, {{"name": "b", "dependsOn": {{"targets": ["a"],
                       "probe": {{"taskStatusList": [{}, {}]}}}}}}])",
                   same, other),
      "", "b");
  settle();
  set_job("f-a", "Running", base::format(R"(, "taskStatusCount": {{{}}})", counts));
  EXPECT_EQ(jobs(), "f-a f-b");
}

TEST_F(ProbeTest, a_target_that_completed_has_passed) {
  begin(R"({"httpGetList": [{"taskName": "t", "path": "/", "port": 80}]})");
  set_job("f-a", "Completed");
  EXPECT_EQ(jobs(), "f-a f-b");
}

TEST_F(ProbeTest, nobody_else_is_asked) {
  begin(R"({"tcpSocketList": [{"taskName": "t", "port": 7}]})");
  put_pod(0, "10.0.0.1", "somebody");
  put_pod(1, "10.0.0.2");
  EXPECT_EQ(look(), "");
  put_pod(0, "example.com");
  EXPECT_EQ(look(), "");
}

TEST_F(ProbeTest, probes_that_make_no_sense) {
  const std::pair<const char*, const char*> rows[] = {
      {R"({"tcpSocketList": [{"taskName": "t", "port": 0}]})", "probe: port 0 is not between 1 and 65535"},
      {R"({"tcpSocketList": [{"taskName": "x", "port": 7}]})", "probe: no target has the task \"x\""},
      {R"({"taskStatusList": [{"taskName": "x", "phase": "Running"}]})", "probe: no target has the task \"x\""},
      {R"({"httpGetList": [{"taskName": "t", "path": "/ HTTP/1.1", "port": 80}]})",
       "probe: path \"/ HTTP/1.1\" has a blank or a control character"},
      {R"({"httpGetList": [{"taskName": "t", "path": "/", "port": 80, "httpHeader": {"name": "A:", "value": "b"}}]})",
       "probe: \"A:\" is not an HTTP header"},
      {R"({"httpGetList": [{"taskName": "t", "path": "/", "port": 80, "httpHeader": {"name": "A", "value": "b\r\nC: d"}}]})",
       "probe: \"A\" is not an HTTP header"}};
  for (const auto& [probe, text] : rows) {
    world.objects.clear();
    restart();
    begin(probe);
    settle();
    EXPECT_EQ(
        events(),
        base::format("Created: create a job named f-a!\nSyncJobFlow: SyncJobFlow JobFlow failed for flow b: {}", text));
    EXPECT_EQ(jobs(), "f-a");
  }
}

}  // namespace
}  // namespace controllers::jobflow
