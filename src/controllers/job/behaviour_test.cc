// The job controller in situations: MPI (examples 3.5), volumes (3.1), partitions, refusals, strangers.
#include <gtest/gtest.h>

#include "base/format.h"
#include "controllers/framework/world_for_tests.h"
#include "controllers/job/controller.h"

namespace controllers::job {
namespace {

using api::Json;
namespace resources = api::resources;

class BehaviourTest : public ::testing::Test {
 protected:
  BehaviourTest() : controller(make_job_controller({})) {
    world.use_indexes_of(*controller);
    world.put_text(resources::kQueues, R"({"kind": "Queue", "metadata": {"name": "q"}, "status": {"state": "Open"}})");
  }
  // A job "j" in "ns" with this spec (without queue and scheduler).
  void put_job(std::string_view spec) {
    auto parsed = api::parse_json(spec);
    ASSERT_TRUE(parsed.ok()) << spec;
    Json full = *parsed;
    full.set("queue", "q");
    full.set("schedulerName", "volcano");
    if (!full.has("maxRetry")) full.set("maxRetry", 3);
    world.put(resources::kJobs,
              Json::object({{"apiVersion", "batch.volcano.sh/v1alpha1"},
                            {"kind", "Job"},
                            {"metadata", Json::object({{"name", "j"}, {"namespace", "ns"}, {"uid", "U"}})},
                            {"spec", std::move(full)}}));
  }
  std::string turn(int failures = 0) {
    world.now = world.now + base::seconds(1);
    return world.turn(*controller, "ns/j", failures);
  }
  void settle() {
    for (int round = 0; round < 8; ++round) turn();
  }
  void admit() {
    settle();
    world.edit(resources::kPodGroups, "ns/j-U")->edit("status").set("phase", "Inqueue");
    settle();
  }
  void set_pod(const std::string& name, std::string_view phase) {
    Json* pod = world.edit(resources::kPods, "ns/" + name);
    ASSERT_NE(pod, nullptr) << name;
    pod->edit("status").set("phase", phase);
  }
  bool has_pod(const std::string& name) const { return world.find(resources::kPods, "ns/" + name) != nullptr; }
  const Json& job() const { return *world.find(resources::kJobs, "ns/j"); }
  std::string phase() const { return job()["status"]["state"]["phase"].str(); }

  TestWorld world;
  std::unique_ptr<Controller> controller;
};

constexpr std::string_view kPod = R"({"spec": {"containers": [{"name": "c", "image": "i"}]}})";

std::string task(std::string_view name, int replicas, std::string_view more = "") {
  return base::format(R"({{"name": "{0}", "replicas": {1}, "minAvailable": {1}, "maxRetry": 3, "template": {2}{3}}})",
                      name, replicas, kPod, more);
}

TEST_F(BehaviourTest, mpi_gets_hosts_keys_and_one_group_for_all) {
  put_job(
      R"({"minAvailable": 4, "plugins": {"ssh": [], "svc": []}, "policies": [{"event": "PodEvicted", "action": "RestartJob"}],
    "tasks": [{"name": "mpimaster", "replicas": 1, "minAvailable": 1,
       "policies": [{"event": "TaskCompleted", "action": "CompleteJob"}], "template": {"spec": {"containers":
       [{"name": "m", "resources": {"requests": {"cpu": "500m"}, "limits": {"cpu": "500m"}}}]}}},
      {"name": "mpiworker", "replicas": 3, "minAvailable": 3, "template": {"spec": {"containers":
       [{"name": "w", "resources": {"requests": {"cpu": "1000m"}, "limits": {"cpu": "1000m"}}}]}}}]})");
  const std::string plan = turn();
  EXPECT_NE(plan.find("--\ncreate ConfigMap ns/j-svc\ncreate Service ns/j\ncreate NetworkPolicy ns/j\ncreate Secret "
                      "ns/j-ssh\n--\ncreate PodGroup ns/j-U\n--\nstatus Job ns/j {\"conditions\""),
            std::string::npos)
      << plan;
  EXPECT_EQ(job()["status"]["controlledResources"].dump(), R"({"plugin-svc":"svc","plugin-ssh":"ssh"})");
  EXPECT_EQ((*world.find(resources::kPodGroups, "ns/j-U"))["spec"].sorted().dump(),
            R"({"minMember":4,"minResources":{"count/pods":"4","cpu":"3500m","limits.cpu":"3500m","pods":"4",)"
            R"("requests.cpu":"3500m"},"minTaskMember":{"mpimaster":1,"mpiworker":3},"queue":"q"})");
  const Json secret = *world.find(resources::kSecrets, "ns/j-ssh");
  EXPECT_EQ(secret["data"].size(), 4u);
  admit();
  for (const char* name : {"j-mpimaster-0", "j-mpiworker-0", "j-mpiworker-1", "j-mpiworker-2"})
    set_pod(name, "Running");
  settle();
  EXPECT_EQ(phase(), "Running");
  set_pod("j-mpimaster-0", "Succeeded");
  turn();
  EXPECT_EQ(phase(), "Completing");
  EXPECT_EQ(world.find(resources::kSecrets, "ns/j-ssh"), nullptr);
  EXPECT_EQ(world.find(resources::kServices, "ns/j"), nullptr);
  world.gone();
  settle();
  EXPECT_EQ(phase(), "Completed");
  EXPECT_EQ(job()["status"]["succeeded"].as_int(), 1);
  EXPECT_TRUE(has_pod("j-mpimaster-0"));
  EXPECT_FALSE(has_pod("j-mpiworker-0"));
}

TEST_F(BehaviourTest, a_claim_is_made_named_and_mounted_everywhere) {
  put_job(base::format(
      R"({{"minAvailable": 1, "volumes": [{{"mountPath": "/out", "volumeClaim": {{"accessModes": ["ReadWriteOnce"]}}}}],
                            "tasks": [{}]}})",
      task("a", 1)));
  admit();
  const std::string claim = job()["spec"]["volumes"][std::size_t{0}]["volumeClaimName"].str();
  ASSERT_EQ(claim.size(), std::string_view("j-pvc-").size() + 12);
  EXPECT_EQ(claim.substr(0, 6), "j-pvc-");
  const Json* made = world.find(resources::kPersistentVolumeClaims, "ns/" + claim);
  ASSERT_NE(made, nullptr);
  EXPECT_EQ(api::controller_of(*made)["uid"].as_string(), "U");
  EXPECT_EQ(job()["status"]["controlledResources"]["volume-pvc-" + claim].as_string(), claim);
  const Json& spec = (*world.find(resources::kPods, "ns/j-a-0"))["spec"];
  EXPECT_EQ(spec["volumes"][std::size_t{0}]["persistentVolumeClaim"]["claimName"].as_string(), claim);
  EXPECT_EQ(spec["containers"][std::size_t{0}]["volumeMounts"][std::size_t{0}]["mountPath"].as_string(), "/out");
}

// `kubectl apply` of a job's manifest takes away the name that the controller gave: pods made later have the volume all
// the same, also where Volcano's controller had named the claims.
TEST_F(BehaviourTest, a_claim_finds_its_name_again) {
  for (const bool of_volcano : {false, true}) {
    put_job(base::format(R"({{"minAvailable": 1, "volumes": [{{"mountPath": "/a", "volumeClaim": {{"x": 1}}}},
                              {{"mountPath": "/b", "volumeClaim": {{"x": 1}}}}], "tasks": [{}]}})",
                         task("a", 1)));
    if (of_volcano)
      for (const int i : {0, 1})
        world.edit(resources::kJobs, "ns/j")
            ->edit("spec")
            .edit("volumes")
            .edit(static_cast<std::size_t>(i))
            .set("volumeClaimName", i == 0 ? "zzz" : "aaa");
    admit();
    set_pod("j-a-0", "Running");
    settle();
    ASSERT_EQ(phase(), "Running");
    const Json named = job()["spec"]["volumes"];
    const Json volumes = (*world.find(resources::kPods, "ns/j-a-0"))["spec"]["volumes"];
    ASSERT_EQ(volumes.size(), 2u);
    Json& spec = world.edit(resources::kJobs, "ns/j")->edit("spec");
    for (const int i : {0, 1}) spec.edit("volumes").edit(static_cast<std::size_t>(i)).erase("volumeClaimName");
    spec.edit("tasks").edit(std::size_t{0}).set("replicas", 2);
    settle();
    EXPECT_EQ(job()["spec"]["volumes"], named);
    EXPECT_EQ(phase(), "Running");
    EXPECT_EQ((*world.find(resources::kPods, "ns/j-a-1"))["spec"]["volumes"], volumes);
    world.erase(resources::kPods, "ns/j-a-0");
    world.erase(resources::kPods, "ns/j-a-1");
    world.erase(resources::kPodGroups, "ns/j-U");
  }
}

TEST_F(BehaviourTest, a_missing_claim_keeps_the_job_pending_until_it_appears) {
  put_job(base::format(
      R"({{"minAvailable": 1, "volumes": [{{"mountPath": "/out", "volumeClaimName": "mine"}}], "tasks": [{}]}})",
      task("a", 1)));
  settle();
  EXPECT_EQ(phase(), "Pending");
  EXPECT_EQ(world.find(resources::kPodGroups, "ns/j-U"), nullptr);
  EXPECT_EQ(world.events.back(),
            "PVCError: Failed to create PVC, err: pvc mine is not found, the job will be in the "
            "Pending state until the PVC is created");
  world.put_text(resources::kPersistentVolumeClaims,
                 R"({"kind": "PersistentVolumeClaim", "metadata": {"name": "mine", "namespace": "ns"}})");
  admit();
  EXPECT_TRUE(has_pod("j-a-0"));
}

TEST_F(BehaviourTest, a_failed_pod_restarts_its_partition_only) {
  put_job(R"({"minAvailable": 4, "plugins": {"svc": []}, "tasks": [{"name": "a", "replicas": 4, "minAvailable": 4,
    "partitionPolicy": {"totalPartitions": 2, "partitionSize": 2, "minPartitions": 2},
    "policies": [{"event": "PodFailed", "action": "RestartPartition"}],
    "template": {"spec": {"containers": [{"name": "c", "image": "i"}]}}}]})");
  admit();
  EXPECT_EQ(
      (*world.find(resources::kPodGroups, "ns/j-U"))["spec"]["subGroupPolicy"].dump(),
      R"([{"name":"a","subGroupSize":2,"minSubGroups":2,"labelSelector":{"matchLabels":{"volcano.sh/task-spec":"a"}},)"
      R"("matchLabelKeys":["volcano.sh/partition-id"]}])");
  for (int i = 0; i < 4; ++i) set_pod(base::format("j-a-{}", i), "Running");
  settle();
  set_pod("j-a-3", "Failed");
  turn();
  EXPECT_EQ(phase(), "Restarting");
  const Json& status = job()["status"];
  EXPECT_EQ(status["terminating"].as_int(), 2);
  EXPECT_EQ(status["running"].as_int(), 2);
  EXPECT_EQ(status["version"].as_int(), 0);
  EXPECT_NE(world.find(resources::kPodGroups, "ns/j-U"), nullptr);
  EXPECT_NE(world.find(resources::kServices, "ns/j"), nullptr);
  EXPECT_FALSE(api::is_deleting(*world.find(resources::kPods, "ns/j-a-0")));
  EXPECT_TRUE(api::is_deleting(*world.find(resources::kPods, "ns/j-a-2")));
  world.gone();
  settle();
  EXPECT_TRUE(has_pod("j-a-3"));
  for (int i = 2; i < 4; ++i) set_pod(base::format("j-a-{}", i), "Running");
  settle();
  EXPECT_EQ(phase(), "Running");
  EXPECT_EQ(job()["status"]["retryCount"].as_int(), 1);
}

constexpr std::string_view kTaskRestarts = R"(, "policies": [{"event": "PodFailed", "action": "RestartTask"}])";
constexpr std::string_view kEvictionRestartsJob = R"("policies": [{"event": "PodEvicted", "action": "RestartJob"}])";

TEST_F(BehaviourTest, a_pod_that_the_job_itself_killed_was_not_evicted) {
  for (const bool plan_fails : {false, true}) {
    world.objects.erase(resources::kPods);
    put_job(base::format(R"({{"minAvailable": 2, {}, "tasks": [{}, {}]}})", kEvictionRestartsJob,
                         task("a", 1, kTaskRestarts), task("b", 1)));
    controller = make_job_controller({});
    admit();
    for (const char* pod : {"j-a-0", "j-b-0"}) set_pod(pod, "Running");
    settle();
    const std::string uid(api::uid_of(*world.find(resources::kPods, "ns/j-b-0")));
    set_pod("j-a-0", "Failed");
    if (plan_fails) {  // after the deletion, which the server carries out at once
      controller->step(world, "ns/j", {.now = world.now});
      world.erase(resources::kPods, "ns/j-a-0");
      controller->finished("ns/j", {.succeeded = false});
    }
    settle();
    EXPECT_TRUE(has_pod("j-a-0"));
    EXPECT_EQ(api::uid_of(*world.find(resources::kPods, "ns/j-b-0")), uid);
    EXPECT_EQ(job()["status"]["version"].as_int(), 0);
    EXPECT_EQ(job()["status"]["retryCount"].as_int(), 1);
  }
}

TEST_F(BehaviourTest, restarts_that_come_with_a_change_of_phase_use_up_a_task_too) {
  put_job(base::format(R"({{"minAvailable": 1, "tasks": [{}]}})",
                       task("a", 1, R"(, "policies": [{"event": "TaskFailed", "action": "TerminateJob"}])")));
  admit();
  world.edit(resources::kPods, "ns/j-a-0")
      ->set("status", *api::parse_json(R"({"phase": "Running", "containerStatuses": [{"restartCount": 3}]})"));
  settle();
  EXPECT_EQ(phase(), "Terminating");
}

TEST_F(BehaviourTest, restarts_inside_pods_use_up_a_task) {
  put_job(base::format(R"({{"minAvailable": 1, "tasks": [{}]}})",
                       task("a", 1, R"(, "policies": [{"event": "TaskFailed", "action": "TerminateJob"}])")));
  admit();
  for (const int restarts : {0, 2, 3}) {
    EXPECT_NE(phase(), "Terminating");
    world.edit(resources::kPods, "ns/j-a-0")
        ->set("status", *api::parse_json(base::format(
                            R"({{"phase": "Running", "containerStatuses": [{{"restartCount": {}}}]}})", restarts)));
    turn();
  }
  EXPECT_EQ(phase(), "Terminating");
}

TEST_F(BehaviourTest, enough_successes_complete_the_job_and_end_the_rest) {
  put_job(base::format(R"({{"minAvailable": 1, "minSuccess": 1, "tasks": [{}]}})", task("a", 3)));
  admit();
  for (int i = 0; i < 3; ++i) set_pod(base::format("j-a-{}", i), "Running");
  settle();
  set_pod("j-a-1", "Succeeded");
  settle();
  EXPECT_EQ(phase(), "Completed");
  world.gone();
  settle();
  EXPECT_FALSE(has_pod("j-a-0"));
  EXPECT_EQ(job()["status"]["succeeded"].as_int(), 1);
  EXPECT_FALSE(job()["status"].has("terminating"));
  EXPECT_EQ(turn(), "");
}

TEST_F(BehaviourTest, a_waiting_group_is_reported_once_for_each_reason) {
  put_job(base::format(R"({{"minAvailable": 1, "tasks": [{}]}})", task("a", 1)));
  settle();
  const auto group_report = [this](std::string_view phase, std::string_view type, std::string_view message) {
    Json condition = Json::object({{"type", type}, {"status", "True"}, {"lastTransitionTime", "2026-01-01T00:00:00Z"}});
    condition.set("message", message);
    world.edit(resources::kPodGroups, "ns/j-U")
        ->set("status", Json::object({{"phase", phase}, {"conditions", Json::array({condition})}}));
    settle();
  };
  const auto waits_for = [this] { return job()["status"]["state"]["message"].str(); };
  group_report("Pending", "Unschedulable", "no room. 1/0 tasks in gang unschedulable");
  const std::string first =
      "PodGroupPending: PodGroup ns:j unschedulable, reason: no room. 1/0 tasks in gang unschedulable";
  EXPECT_EQ(world.events.back(), first);
  EXPECT_EQ(waits_for(), "no room");
  EXPECT_EQ(phase(), "Pending");

  const std::size_t notified = world.events.size();
  controller = make_job_controller({});  // it is started anew
  group_report("Inqueue", "Unschedulable", "no room. 1/1 tasks in gang unschedulable");
  EXPECT_EQ(world.events.size(), notified) << world.events.back();
  group_report("Inqueue", "Unschedulable", "no node has x. 1/1 tasks in gang unschedulable");
  EXPECT_EQ(world.events.size(), notified + 1);
  EXPECT_EQ(waits_for(), "no node has x");

  group_report("Running", "Scheduled", "");
  EXPECT_EQ(world.events.size(), notified + 1);
  EXPECT_EQ(waits_for(), "");
}

TEST_F(BehaviourTest, what_a_group_waits_for_wakes_its_job) {
  const auto group = [](std::string_view message) {
    return *api::parse_json(base::format(R"({{"status": {{"phase": "Inqueue", "conditions": [
        {{"type": "Unschedulable", "status": "True", "message": "{}"}}]}}}})",
                                         message));
  };
  const Json before = group("no room. 1/1 tasks"), counted = group("no room. 2/2 tasks"), other = group("no node");
  for (const Wake& wake : controller->wakes_on()) {
    if (wake.resource != resources::kPodGroups) continue;
    EXPECT_TRUE(wake.matters(&before, &other));
    EXPECT_FALSE(wake.matters(&before, &counted)) << "numbers of pods say nothing new";
  }
}

TEST_F(BehaviourTest, a_name_that_somebody_else_holds_is_reported_and_left_alone) {
  put_job(base::format(R"({{"minAvailable": 1, "tasks": [{}]}})", task("a", 2)));
  world.put_text(
      resources::kPods,
      R"({"kind": "Pod", "metadata": {"name": "j-a-0", "namespace": "ns"}, "status": {"phase": "Running"}})");
  admit();
  EXPECT_TRUE(has_pod("j-a-1"));
  EXPECT_EQ(world.events.back(), "FailedCreate: Error creating pods: [pods \"j-a-0\" already exists]");
  EXPECT_EQ(job()["status"]["pending"].as_int(), 1);
}

TEST_F(BehaviourTest, a_job_that_keeps_failing_is_terminated) {
  put_job(base::format(R"({{"minAvailable": 1, "plugins": {{"magic": []}}, "tasks": [{}]}})", task("a", 1)));
  EXPECT_NE(turn().find("fail failed to get plugin magic\n"), std::string::npos);
  EXPECT_EQ(world.events.back(), "PluginError: Execute plugin when job add failed, err: failed to get plugin magic");
  turn(15);
  EXPECT_EQ(phase(), "Pending");
  turn(16);
  EXPECT_EQ(phase(), "Terminating");
  EXPECT_EQ(world.events.back(), "ExecuteAction: Job failed on action SyncJob for retry limit reached");
}

TEST_F(BehaviourTest, a_delay_ends_when_the_pod_runs_after_all) {
  put_job(base::format(
      R"({{"minAvailable": 1, "policies": [{{"event": "PodPending", "action": "AbortJob", "timeout": "1m"}}],
                            "tasks": [{}]}})",
      task("a", 1)));
  admit();
  set_pod("j-a-0", "Running");
  settle();
  world.now = world.now + base::minutes(5);
  settle();
  EXPECT_EQ(phase(), "Running");
}

TEST_F(BehaviourTest, a_delay_ends_when_the_pod_ran_and_succeeded_in_one_look) {
  put_job(base::format(
      R"({{"minAvailable": 2, "policies": [{{"event": "PodPending", "action": "AbortJob", "timeout": "1m"}}],
                            "tasks": [{}]}})",
      task("a", 2)));
  admit();
  set_pod("j-a-0", "Succeeded");
  set_pod("j-a-1", "Running");
  settle();
  world.now = world.now + base::minutes(5);
  settle();
  EXPECT_EQ(phase(), "Running");
}

TEST_F(BehaviourTest, keys_are_replaced_if_they_are_the_jobs_and_do_not_fit) {
  Json mine = world.put_text(resources::kSecrets, R"({"apiVersion": "v1", "kind": "Secret",
      "metadata": {"name": "j-ssh", "namespace": "ns"}, "data": {"config": "b2xk", "id_rsa": "b2xk"}})");
  put_job(base::format(
      R"({{"minAvailable": 1, "plugins": {{"ssh": ["--ssh-private-key=P", "--ssh-public-key=Q"]}}, "tasks": [{}]}})",
      task("a", 1)));
  for (int i = 0; i < 4; ++i) turn();
  EXPECT_EQ(*world.find(resources::kSecrets, "ns/j-ssh"), mine) << "it is somebody else's";
  EXPECT_FALSE(job()["status"]["controlledResources"].has("plugin-ssh")) << "or it went with the job's plugins";
  mine.edit("metadata").set("ownerReferences", Json::array({api::controller_reference(job())}));
  const Json* secret = &world.put(resources::kSecrets, mine);  // as Volcano made it before it handed over
  settle();
  EXPECT_EQ((*secret)["data"]["id_rsa"].as_string(), "UA==");
  world.edit(resources::kSecrets, "ns/j-ssh")->edit("data").set("id_rsa", "b3du");
  world.edit(resources::kJobs, "ns/j")->set("status", Json::object());
  turn();
  EXPECT_EQ((*secret)["data"]["id_rsa"].as_string(), "b3du");  // the hosts are the same
}

TEST_F(BehaviourTest, hosts_follow_the_replicas_by_an_update) {
  put_job(base::format(R"({{"minAvailable": 1, "plugins": {{"svc": []}}, "tasks": [{}]}})", task("a", 1)));
  admit();
  world.edit(resources::kJobs, "ns/j")->edit_path({"spec", "tasks"}).edit(0).set("replicas", 2);
  const std::string plan = turn();
  EXPECT_NE(plan.find("update ConfigMap ns/j-svc\n"), std::string::npos) << plan;
  EXPECT_EQ((*world.find(resources::kConfigMaps, "ns/j-svc"))["data"]["VC_A_NUM"].as_string(), "2");
}

TEST_F(BehaviourTest, jobs_of_a_forwarding_queue_are_marked) {
  world.put_text(resources::kQueues,
                 R"({"kind": "Queue", "metadata": {"name": "q"}, "spec": {"extendClusters": [{"name": "far"}]}})");
  put_job(base::format(
      R"({{"minAvailable": 1, "volumes": [{{"mountPath": "/out", "volumeClaim": {{"accessModes": ["ReadWriteOnce"]}}}}],
                            "tasks": [{}]}})",
      task("a", 1)));
  admit();
  EXPECT_EQ(api::annotation_of(job(), "volcano.sh/job-forwarding"), "true");
  EXPECT_FALSE(job()["spec"]["volumes"][std::size_t{0}]["volumeClaimName"].str().empty());
  EXPECT_EQ(api::annotation_of(*world.find(resources::kPodGroups, "ns/j-U"), "volcano.sh/job-forwarding"), "true");
  EXPECT_EQ(api::label_of(*world.find(resources::kPods, "ns/j-a-0"), "volcano.sh/job-forwarding"), "true");
}

TEST_F(BehaviourTest, metadata_travels_from_job_to_pods) {
  put_job(base::format(R"({{"minAvailable": 1, "priorityClassName": "high", "tasks": [{}]}})",
                       task("a", 1, R"(, "topologyPolicy": "restricted")")));
  world.edit(resources::kJobs, "ns/j")
      ->edit("metadata")
      .set(
          "annotations",
          *api::parse_json(
              R"({"volcano.sh/preemptable": "true", "volcano.sh/jdb-max-unavailable": "1", "volcano.sh/revocable-zone": "*", "x": "y"})"));
  world.edit(resources::kJobs, "ns/j")
      ->edit("metadata")
      .set("labels", *api::parse_json(R"({"volcano.sh/cooldown-time": "600s"})"));
  admit();
  const Json& pod = *world.find(resources::kPods, "ns/j-a-0");
  EXPECT_EQ(api::annotation_of(pod, "volcano.sh/preemptable"), "true");
  EXPECT_EQ(api::annotation_of(pod, "volcano.sh/jdb-max-unavailable"), "1");
  EXPECT_EQ(api::annotation_of(pod, "volcano.sh/numa-topology-policy"), "restricted");
  EXPECT_EQ(api::annotation_of(pod, "x"), "");
  EXPECT_EQ(api::label_of(pod, "volcano.sh/cooldown-time"), "600s");
  EXPECT_EQ(pod["spec"]["priorityClassName"].as_string(), "high");
  EXPECT_EQ((*world.find(resources::kPodGroups, "ns/j-U"))["spec"]["priorityClassName"].as_string(), "high");
}

TEST_F(BehaviourTest, what_a_step_does_not_read_of_a_pod_wakes_nobody) {
  std::function<bool(const Json*, const Json*)> matters;
  for (const Wake& wake : controller->wakes_on())
    if (wake.resource == resources::kPods) matters = wake.matters;
  ASSERT_TRUE(matters);
  const Json pod = *api::parse_json(
      R"({"metadata": {"name": "j-a-0", "resourceVersion": "1", "annotations": {"a": "b"}},
          "spec": {"containers": []}, "status": {"phase": "Pending"}})");
  const auto after = [&](std::initializer_list<std::string_view> path, Json value) {
    Json changed = pod;
    changed.edit_path({"metadata", "resourceVersion"}) = "2";
    changed.edit_path(path) = std::move(value);
    return matters(&pod, &changed);
  };
  EXPECT_TRUE(matters(nullptr, &pod));
  EXPECT_TRUE(matters(&pod, nullptr));
  EXPECT_FALSE(after({"spec", "nodeName"}, "n"));
  EXPECT_FALSE(after({"status", "conditions"}, Json::array({"bound"})));
  EXPECT_FALSE(after({"status", "podIP"}, "10.0.0.1"));
  EXPECT_TRUE(after({"status", "phase"}, "Running"));
  EXPECT_TRUE(after({"status", "containerStatuses"}, Json::array({"ready"})));
  EXPECT_TRUE(after({"status", "initContainerStatuses"}, Json::array({"restarted"})));
  EXPECT_TRUE(after({"metadata", "deletionTimestamp"}, "2026-01-01T00:00:00Z"));
  EXPECT_TRUE(after({"metadata", "annotations"}, Json::object()));
  EXPECT_TRUE(after({"metadata", "labels"}, Json::object({{"a", "b"}})));
  EXPECT_TRUE(after({"metadata", "ownerReferences"}, Json::array({"other"})));
}

TEST_F(BehaviourTest, numbers_of_pods_wait_and_phases_do_not) {
  put_job(base::format(R"({{"minAvailable": 2, "tasks": [{}]}})", task("a", 2)));
  admit();
  world.counts_wait = base::milliseconds(50);
  set_pod("j-a-0", "Running");
  const Plan later = controller->step(world, "ns/j", {.now = world.now, .counts_wait = world.counts_wait});
  controller->finished("ns/j", world.apply(later));
  EXPECT_EQ(later.text(), "");
  EXPECT_EQ(later.look_again(), base::milliseconds(50));
  set_pod("j-a-1", "Running");
  EXPECT_NE(turn().find("\"running\":2,"), std::string::npos);
  EXPECT_EQ(phase(), "Running");
  set_pod("j-a-0", "Failed");
  EXPECT_EQ(turn(), "");
  Json* group = world.edit(resources::kPodGroups, "ns/j-U");
  group->edit("status").set("conditions",
                            *api::parse_json(R"([{"type": "Unschedulable", "status": "True", "message": "no room"}])"));
  EXPECT_EQ(turn(), "") << "nor does the event, which comes with the status";
  world.counts_wait = {};
  EXPECT_NE(turn().find("\"failed\":1,"), std::string::npos);
}

}  // namespace
}  // namespace controllers::job
