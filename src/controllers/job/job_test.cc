// The job controller against worked examples: job-1 (controllers.md 5), MPI (examples 3.5), and convergence.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "base/format.h"
#include "controllers/framework/world_for_tests.h"
#include "controllers/job/controller.h"

namespace controllers::job {
namespace {

using api::Json;
namespace resources = api::resources;

constexpr std::string_view kJob1 = R"({
  "apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job",
  "metadata": {"name": "job-1", "namespace": "default", "uid": "U",
               "annotations": {"note": "kept"}},
  "spec": {"minAvailable": 1, "schedulerName": "volcano", "queue": "test", "maxRetry": 3,
    "policies": [{"event": "PodEvicted", "action": "RestartJob"}],
    "tasks": [{"name": "nginx", "replicas": 1, "minAvailable": 1, "maxRetry": 3,
      "policies": [{"event": "TaskCompleted", "action": "CompleteJob"}],
      "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "nginx", "image": "nginx:latest",
        "command": ["sleep", "10m"], "resources": {"requests": {"cpu": 1}, "limits": {"cpu": 1}}}]}}}]}})";

// job-1 with its job-wide policy replaced.
std::string with_policy(std::string_view policy) {
  constexpr std::string_view kOld = R"({"event": "PodEvicted", "action": "RestartJob"})";
  const std::size_t at = kJob1.find(kOld);
  return base::format("{}{}{}", kJob1.substr(0, at), policy, kJob1.substr(at + kOld.size()));
}

class JobTest : public ::testing::Test {
 protected:
  JobTest() : controller(make_job_controller({})) {
    world.use_indexes_of(*controller);
    world.put_text(resources::kQueues, R"({"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue",
                                           "metadata": {"name": "test"}, "status": {"state": "Open"}})");
  }

  std::string turn(const std::string& key = "default/job-1") {
    world.now = world.now + base::milliseconds(1500);
    return world.turn(*controller, key);
  }
  void settle(const std::string& key = "default/job-1") {
    for (int round = 0; round < 10; ++round) turn(key);
  }
  Json job(const std::string& key = "default/job-1") { return *world.find(resources::kJobs, key); }
  std::string phase(const std::string& key = "default/job-1") { return job(key)["status"]["state"]["phase"].str(); }
  void set_group(std::string_view to, const std::string& key = "default/job-1-U") {
    world.edit(resources::kPodGroups, key)->edit("status").set("phase", to);
  }
  void set_pod(const std::string& key, std::string_view to) {
    world.edit(resources::kPods, key)->edit("status").set("phase", to);
  }
  void start_job_1() {
    world.put_text(resources::kJobs, kJob1);
    settle();
    set_group("Inqueue");
    settle();
    set_pod("default/job-1-nginx-0", "Running");
    settle();
  }
  void command(std::string_view action, std::string_view name = "c") {
    world.put(resources::kCommands,
              Json::object(
                  {{"apiVersion", "bus.volcano.sh/v1alpha1"},
                   {"kind", "Command"},
                   {"metadata", Json::object({{"name", name}, {"namespace", "default"}})},
                   {"action", action},
                   {"target",
                    Json::object({{"apiVersion", "batch.volcano.sh/v1alpha1"}, {"kind", "Job"}, {"name", "job-1"}})}}));
  }

  TestWorld world;
  std::unique_ptr<Controller> controller;
};

TEST_F(JobTest, job_1_gets_its_status_and_its_group_and_waits_for_admission) {
  world.put_text(resources::kJobs, kJob1);
  EXPECT_EQ(turn(), R"(status Job default/job-1 {"conditions":[{"lastTransitionTime":"2026-03-20T09:46:41Z",)"
                    R"("status":"Pending"}],"minAvailable":1,"state":{"lastTransitionTime":"2026-03-20T09:46:41Z",)"
                    R"("phase":"Pending"}})"
                    "\n--\ncreate PodGroup default/job-1-U\n");
  const Json group = *world.find(resources::kPodGroups, "default/job-1-U");
  EXPECT_EQ(group["spec"].sorted().dump(),
            R"({"minMember":1,"minResources":{"count/pods":"1","cpu":"1","limits.cpu":"1","pods":"1",)"
            R"("requests.cpu":"1"},"minTaskMember":{"nginx":1},"queue":"test"})");
  EXPECT_EQ(group["metadata"]["annotations"]["note"].as_string(), "kept");
  EXPECT_EQ(group["metadata"]["ownerReferences"].sorted().dump(),
            R"([{"apiVersion":"batch.volcano.sh/v1alpha1","blockOwnerDeletion":true,"controller":true,"kind":"Job",)"
            R"("name":"job-1","uid":"U"}])");
  EXPECT_EQ(turn(), "");
}

TEST_F(JobTest, job_1_runs_and_completes_with_version_3_and_keeps_its_results) {
  world.put_text(resources::kJobs, kJob1);
  settle();
  set_group("Inqueue");
  EXPECT_TRUE(turn().starts_with("create Pod default/job-1-nginx-0\n--\nstatus Job default/job-1 "));
  EXPECT_EQ(job()["status"]["taskStatusCount"].dump(), R"({"nginx":{"phase":{"Pending":1}}})");
  const Json pod = *world.find(resources::kPods, "default/job-1-nginx-0");
  EXPECT_EQ(pod["metadata"]["annotations"].sorted().dump(),
            R"({"scheduling.k8s.io/group-name":"job-1-U","volcano.sh/job-name":"job-1",)"
            R"("volcano.sh/job-retry-count":"0","volcano.sh/job-version":"0","volcano.sh/queue-name":"test",)"
            R"("volcano.sh/task-index":"0","volcano.sh/task-spec":"nginx","volcano.sh/template-uid":"job-1-nginx"})");
  EXPECT_EQ(pod["metadata"]["labels"].sorted().dump(),
            R"({"volcano.sh/job-name":"job-1","volcano.sh/job-namespace":"default","volcano.sh/queue-name":"test",)"
            R"("volcano.sh/task-index":"0","volcano.sh/task-spec":"nginx"})");
  EXPECT_EQ(pod["spec"]["schedulerName"].as_string(), "volcano");
  EXPECT_EQ(turn(), "");
  set_group("Running");
  EXPECT_EQ(turn(), "");
  set_pod("default/job-1-nginx-0", "Running");
  turn();
  EXPECT_EQ(phase(), "Running");
  EXPECT_EQ(turn(), "");
  set_pod("default/job-1-nginx-0", "Succeeded");
  turn();
  EXPECT_EQ(phase(), "Completing");
  EXPECT_EQ(job()["status"]["version"].as_int(), 1);
  EXPECT_EQ(world.find(resources::kPodGroups, "default/job-1-U"), nullptr);
  settle();
  const Json status = job()["status"];
  EXPECT_EQ(status["state"]["phase"].as_string(), "Completed");
  EXPECT_EQ(status["version"].as_int(), 3);
  EXPECT_EQ(status["succeeded"].as_int(), 1);
  EXPECT_FALSE(status.has("running"));
  EXPECT_EQ(status["taskStatusCount"].dump(), R"({"nginx":{"phase":{"Succeeded":1}}})");
  EXPECT_EQ(status["minAvailable"].as_int(), 1);
  EXPECT_TRUE(base::parse_go_duration(status["runningDuration"].as_string()).has_value());
  EXPECT_EQ(status["runningDuration"].as_string().find('.'), std::string_view::npos)
      << status["runningDuration"].dump();
  std::string phases;
  for (const Json& condition : status["conditions"].items()) phases += condition["status"].str() + " ";
  EXPECT_EQ(phases, "Pending Running Completing Completed ");
  EXPECT_EQ(world.events, std::vector<std::string>{"ExecuteAction: Start to execute action CompleteJob "});
  EXPECT_NE(world.find(resources::kPods, "default/job-1-nginx-0"), nullptr);
}

TEST_F(JobTest, a_restart_of_the_controller_changes_nothing_for_a_finished_job) {
  start_job_1();
  set_pod("default/job-1-nginx-0", "Succeeded");
  settle();
  auto restarted = make_job_controller({});
  EXPECT_EQ(world.turn(*restarted, "default/job-1"), "");
  world.erase(resources::kPods, "default/job-1-nginx-0");
  EXPECT_EQ(world.turn(*restarted, "default/job-1"), "");
}

TEST_F(JobTest, a_task_that_completed_while_the_controller_was_down_still_meets_its_policy) {
  start_job_1();
  set_pod("default/job-1-nginx-0", "Succeeded");
  auto restarted = make_job_controller({});
  world.turn(*restarted, "default/job-1");
  EXPECT_EQ(phase(), "Completing");
}

TEST_F(JobTest, a_restart_is_ended_by_a_command) {
  start_job_1();
  world.erase(resources::kPods, "default/job-1-nginx-0");
  turn();
  ASSERT_EQ(phase(), "Restarting");
  command("AbortJob");
  settle();
  EXPECT_EQ(phase(), "Aborted");
  command("ResumeJob");
  settle();
  set_group("Inqueue");
  settle();
  EXPECT_EQ(phase(), "Pending");
}

TEST_F(JobTest, a_pod_that_was_killed_restarts_the_job_by_its_policy) {
  start_job_1();
  world.erase(resources::kPods, "default/job-1-nginx-0");
  turn();
  EXPECT_EQ(phase(), "Restarting");
  EXPECT_EQ(job()["status"]["retryCount"].as_int(), 0);
  settle();
  set_group("Inqueue");
  settle();
  EXPECT_EQ(phase(), "Pending");
  const Json* pod = world.find(resources::kPods, "default/job-1-nginx-0");
  ASSERT_NE(pod, nullptr);
  EXPECT_EQ(api::annotation_of(*pod, "volcano.sh/job-version"), "1");
  set_pod("default/job-1-nginx-0", "Running");
  settle();
  EXPECT_EQ(phase(), "Running");
}

// maxRetry is 3. Failures spend attempts; what others do to the pods or ask of the job does not.
TEST_F(JobTest, the_third_failure_of_three_ends_the_job_and_nothing_else_does) {
  const std::string text = with_policy(R"({"events": ["PodFailed", "PodEvicted"], "action": "RestartJob"})");
  const auto restart = [this](const auto& what_happens) {
    what_happens();
    settle();
    world.gone();
    settle();
    world.now = world.now + base::minutes(6);
    settle();
    if (phase() == "Aborted") command("ResumeJob");
    settle();
    if (world.find(resources::kPodGroups, "default/job-1-U")) set_group("Inqueue");
    settle();
    if (world.find(resources::kPods, "default/job-1-nginx-0")) set_pod("default/job-1-nginx-0", "Running");
    settle();
  };
  const std::string pod = "default/job-1-nginx-0";
  const auto fail = [&](std::string_view status) {
    return [&, status] { world.edit(resources::kPods, pod)->set("status", *api::parse_json(status)); };
  };
  const std::pair<std::string_view, std::function<void()>> harmless[] = {
      {"evicted", [&] { world.erase(resources::kPods, pod); }},
      {"suspended and resumed", [&] { command("AbortJob"); }},
      {"restarted by command", [&] { command("RestartJob"); }},
      {"preempted", fail(R"({"phase": "Failed", "conditions": [{"type": "DisruptionTarget", "status": "True"}]})")},
      {"out of a node's memory", fail(R"({"phase": "Failed", "reason": "Evicted", "message": "The node was low on"})")},
      {"node lost", fail(R"({"phase": "Failed", "reason": "NodeLost"})")},
      {"deleted while it ran",
       [&] {
         set_pod(pod, "Failed");
         world.edit(resources::kPods, pod)->edit("metadata").set("deletionTimestamp", "2026-01-01T00:00:00Z");
       }},
      {"scaled", [&] { world.edit(resources::kJobs, "default/job-1")->edit("spec").set("minAvailable", 1); }},
  };
  const std::string_view failures[] = {
      R"({"phase": "Failed"})",
      R"({"phase": "Failed", "reason": "Evicted", "message": "Usage of EmptyDir volume \"v\" exceeds the limit"})",
      R"({"phase": "Failed", "reason": "OOMKilled"})"};
  world.put_text(resources::kJobs, text);
  restart([] {});
  for (const auto& [name, what_happens] : harmless)
    for (int i = 0; i < 4; ++i) {
      restart(what_happens);
      ASSERT_EQ(phase(), "Running") << name;
      ASSERT_EQ(job()["status"]["retryCount"].as_int(), 0) << name;
    }
  for (const std::string_view failure : failures) {
    ASSERT_EQ(phase(), "Running");
    restart(fail(failure));
  }
  EXPECT_EQ(phase(), "Failed");
  EXPECT_EQ(job()["status"]["retryCount"].as_int(), 3);
  EXPECT_NE(world.find(resources::kPods, pod), nullptr);  // the last one, with its log
}

TEST_F(JobTest, a_version_that_a_stranger_wrote_grows_no_further_than_a_count) {
  start_job_1();
  world.edit(resources::kJobs, "default/job-1")->edit("status").set("version", INT32_MAX);
  command("AbortJob");
  settle();
  world.gone();
  settle();
  EXPECT_EQ(phase(), "Aborted");
  EXPECT_EQ(job()["status"]["version"].as_int(), INT32_MAX);
}

TEST_F(JobTest, suspend_and_resume_by_commands) {
  start_job_1();
  command("AbortJob");
  turn();
  EXPECT_EQ(world.find(resources::kCommands, "default/c"), nullptr);
  turn();
  EXPECT_EQ(phase(), "Aborting");
  EXPECT_EQ(job()["status"]["terminating"].as_int(), 1);
  world.gone();
  settle();
  EXPECT_EQ(phase(), "Aborted");
  EXPECT_EQ(turn(), "");
  command("ResumeJob");
  turn();
  turn();
  EXPECT_EQ(phase(), "Restarting");
  settle();
  EXPECT_EQ(phase(), "Pending");
  set_group("Inqueue");
  settle();
  set_pod("default/job-1-nginx-0", "Running");
  settle();
  EXPECT_EQ(phase(), "Running");
}

TEST_F(JobTest, a_resumed_job_does_its_failed_pods_again) {
  struct Row {
    std::string_view max_retry;
    std::string_view phase;  // after resuming
    bool kept;               // the pod that failed
  };
  for (const Row& row : {Row{"3", "Running", false}, Row{"1", "Running", false}}) {
    std::string text = with_policy(R"({"event": "PodFailed", "action": "AbortJob"})");
    text.replace(text.find(R"("maxRetry": 3)"), 13, base::format(R"("maxRetry": {})", row.max_retry));
    world.put_text(resources::kJobs, text);
    settle();
    set_group("Inqueue");
    settle();
    set_pod("default/job-1-nginx-0", "Running");
    settle();
    set_pod("default/job-1-nginx-0", "Failed");
    settle();
    ASSERT_EQ(phase(), "Aborted");
    ASSERT_NE(world.find(resources::kPods, "default/job-1-nginx-0"), nullptr);
    command("ResumeJob");
    settle();
    world.gone();
    settle();
    if (!row.kept) {
      ASSERT_EQ(phase(), "Pending");
      set_group("Inqueue");
      settle();
      ASSERT_NE(world.find(resources::kPods, "default/job-1-nginx-0"), nullptr);
      set_pod("default/job-1-nginx-0", "Running");
      settle();
    }
    EXPECT_EQ(phase(), row.phase);
    const Json* pod = world.find(resources::kPods, "default/job-1-nginx-0");
    ASSERT_NE(pod, nullptr);
    EXPECT_EQ((*pod)["status"]["phase"].as_string() == "Failed", row.kept);
    world.erase(resources::kPods, "default/job-1-nginx-0");
    world.erase(resources::kPodGroups, "default/job-1-U");
  }
}

TEST_F(JobTest, commands_are_taken_in_the_order_in_which_they_came) {
  start_job_1();
  world.revision = 998;  // the second one's version has a digit more
  command("AbortJob", "d");
  command("ResumeJob", "c");
  settle();
  EXPECT_TRUE(world.all(resources::kCommands).empty());
  EXPECT_EQ(phase(), "Restarting");  // aborted, then resumed
}

TEST_F(JobTest, a_pod_pending_for_too_long_meets_its_delayed_policy) {
  const std::string text = with_policy(R"({"event": "PodPending", "action": "AbortJob", "timeout": "1m0s"})");
  world.put_text(resources::kJobs, text);
  settle();
  set_group("Inqueue");
  settle();
  EXPECT_EQ(world.events.back(), "ExecuteAction: Execute action AbortJob after 1m0s");
  world.now = world.now + base::seconds(30);
  turn();
  EXPECT_EQ(phase(), "Pending");
  world.now = world.now + base::seconds(40);
  turn();
  EXPECT_EQ(phase(), "Aborting");
}

TEST_F(JobTest, an_exit_code_chooses_the_action) {
  const std::string text = with_policy(R"({"exitCode": 3, "action": "TerminateJob"})");
  world.put_text(resources::kJobs, text);
  settle();
  set_group("Inqueue");
  settle();
  set_pod("default/job-1-nginx-0", "Running");
  settle();
  world.edit(resources::kPods, "default/job-1-nginx-0")
      ->set("status", *api::parse_json(R"({"phase": "Failed", "containerStatuses":
                                       [{"state": {"terminated": {"exitCode": 3}}}]})"));
  settle();
  EXPECT_EQ(phase(), "Terminated");
  EXPECT_EQ(job()["status"]["failed"].as_int(), 1);
}

TEST_F(JobTest, a_job_without_its_queue_waits_and_says_so) {
  auto text = std::string(kJob1);
  text.replace(text.find("\"test\""), 6, "\"gone\"");
  world.put_text(resources::kJobs, text);
  settle();
  EXPECT_EQ(phase(), "Pending");
  EXPECT_EQ(world.events.back(),
            "PodGroupError: Failed to create PodGroup, err: queue.scheduling.volcano.sh \"gone\" not found");
}

TEST_F(JobTest, scaling_creates_and_deletes_pods_and_moves_the_group) {
  start_job_1();
  Json* document = world.edit(resources::kJobs, "default/job-1");
  document->edit("spec").edit("tasks").edit(0).set("replicas", 3);
  document->edit("spec").edit("tasks").edit(0).set("minAvailable", 2);
  document->edit("spec").set("minAvailable", 2);
  settle();
  EXPECT_NE(world.find(resources::kPods, "default/job-1-nginx-2"), nullptr);
  const Json& group = *world.find(resources::kPodGroups, "default/job-1-U");
  EXPECT_EQ(group["spec"]["minMember"].as_int(), 2);
  EXPECT_EQ(group["spec"]["minTaskMember"].dump(), R"({"nginx":2})");
  EXPECT_EQ(group["spec"]["minResources"]["cpu"].as_string(), "2");
  set_pod("default/job-1-nginx-1", "Running");
  set_pod("default/job-1-nginx-2", "Running");
  settle();
  world.edit(resources::kJobs, "default/job-1")->edit("spec").edit("tasks").edit(0).set("replicas", 2);
  settle();
  world.gone();
  settle();
  EXPECT_EQ(world.find(resources::kPods, "default/job-1-nginx-2"), nullptr);
  EXPECT_EQ(phase(), "Running");  // scaling down is not an eviction
}

TEST_F(JobTest, a_job_of_more_pods_than_there_is_memory_for_gets_some_each_turn) {
  Json job = *api::parse_json(kJob1);
  job.edit("spec").edit("tasks").edit(0).set("replicas", 2'147'483'647);
  world.put(resources::kJobs, job);
  settle();
  set_group("Inqueue");
  for (std::size_t pods = 2'000; pods <= 6'000; pods += 2'000) {
    turn();
    EXPECT_EQ(world.all(resources::kPods).size(), pods);
  }
  controller = make_job_controller({});  // which compares what is there with what was counted
  world.edit(resources::kJobs, "default/job-1")
      ->edit("status")
      .set("taskStatusCount", *api::parse_json(R"({"nginx":{"phase":{"Pending":2000000000}}})"));
  turn();
  EXPECT_LE(world.all(resources::kPods).size(), 8'000u);
}

TEST_F(JobTest, names_that_others_hold_do_not_stop_the_pods_behind_them) {
  Json job = *api::parse_json(kJob1);
  job.edit("spec").edit("tasks").edit(0).set("replicas", 2'100);
  world.put(resources::kJobs, job);
  settle();
  for (int i = 0; i < 2'000; ++i)
    world.put_text(resources::kPods,
                   base::format(R"({{"kind": "Pod", "metadata": {{"name": "job-1-nginx-{}", "namespace": "default",
                      "uid": "O{}"}}}})",
                                i, i));
  set_group("Inqueue");
  world.events.clear();
  turn();
  EXPECT_EQ(world.all(resources::kPods).size(), 2'100u);
  EXPECT_LE(world.events.size(), 20u);
  // Their going tells the job nothing.
  EXPECT_EQ(controller->step(world, "default/job-1", {.now = world.now}).look_again(), base::seconds(30));
}

TEST_F(JobTest, a_command_that_is_kept_is_taken_once) {
  start_job_1();
  command("AbortJob");
  Json kept = *world.find(resources::kCommands, "default/c");
  settle();
  kept.edit("metadata").set("deletionTimestamp", base::format_rfc3339(world.now));
  world.events.clear();
  world.gone();
  for (int round = 0; round < 10; ++round) {
    world.put(resources::kCommands, kept);  // a finalizer holds it
    turn();
  }
  EXPECT_EQ(phase(), "Aborted");
  EXPECT_TRUE(
      std::ranges::none_of(world.events, [](const std::string& one) { return one.starts_with("CommandIssued"); }));
}

// Names that chance gave, taken away before there are pods: each claim comes back once.
TEST_F(JobTest, lost_claims_go_to_one_volume_each) {
  world.put_text(resources::kJobs, kJob1);
  Json& spec = world.edit(resources::kJobs, "default/job-1")->edit("spec");
  Json volumes = Json::array();
  for (const char* name : {"zzz", "kept", "aaa", "mmm"})
    volumes.push_back(Json::object({{"mountPath", base::format("/{}", name)},
                                    {"volumeClaim", Json::object({{"x", 1}})},
                                    {"volumeClaimName", name}}));
  spec.set("volumes", volumes);
  settle();
  for (const int i : {0, 2, 3})
    world.edit(resources::kJobs, "default/job-1")
        ->edit("spec")
        .edit("volumes")
        .edit(static_cast<std::size_t>(i))
        .erase("volumeClaimName");
  settle();
  std::set<std::string> names;
  for (const Json& one : job()["spec"]["volumes"].items()) names.insert(one["volumeClaimName"].str());
  EXPECT_EQ(names, (std::set<std::string>{"zzz", "kept", "aaa", "mmm"}));
  EXPECT_EQ(world.all(resources::kPersistentVolumeClaims).size(), 4u);
}

}  // namespace
}  // namespace controllers::job
