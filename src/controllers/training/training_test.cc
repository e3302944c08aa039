// The life of training jobs: conditions, restarts, limits, endings (training.md 6, 7, 8).

#include "controllers/training/mpi_objects.h"
#include "controllers/training/trial_for_tests.h"

namespace controllers::training {
namespace {

constexpr std::string_view kMasterAndWorkers = R"({"Master": {"replicas": 1}, "Worker": {"replicas": 2}})";

TEST(TrainingJob, makes_its_group_first) {
  Trial trial("PyTorchJob", kMasterAndWorkers);
  EXPECT_EQ(trial.look().substr(0, 24), "create PodGroup ns/j\n--\n");
  EXPECT_EQ(trial.conditions(), "Created");
  EXPECT_EQ(trial.status()["replicaStatuses"].dump(), "{}");
  EXPECT_FALSE(trial.status().has("startTime"));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(trial.look(), "");
  trial.admit();
  EXPECT_EQ(trial.look().substr(0, 230),
            "create Pod ns/j-master-0\ncreate Service ns/j-master-0\ncreate Pod ns/j-worker-0\n"
            "create Service ns/j-worker-0\ncreate Pod ns/j-worker-1\ncreate Service ns/j-worker-1\n--\n"
            "status PyTorchJob ns/j {\"conditions\":[{\"lastTransitionTime\":\"2026");
  EXPECT_TRUE(trial.status().has("startTime"));
  EXPECT_EQ(trial.look(), "");
}

TEST(TrainingJob, says_once_why_it_waits) {
  Trial trial("PyTorchJob", kMasterAndWorkers);
  trial.rest();
  const auto group_report = [&trial](std::string_view message) {
    trial.world.edit(resources::kPodGroups, std::string(kKey))
        ->set("status", parsed(base::format(R"({{"phase": "Pending", "conditions": [
            {{"type": "Unschedulable", "status": "True", "message": "{}"}}]}})",
                                            message)));
    trial.rest();
  };
  const std::size_t recorded = trial.world.events.size();
  group_report("no room. 3/0 tasks in gang unschedulable");
  ASSERT_EQ(trial.world.events.size(), recorded + 1);
  EXPECT_EQ(trial.world.events.back(), "PodGroupPending: PodGroup ns/j waits: no room");
  group_report("no room. 3/1 tasks in gang unschedulable");
  EXPECT_EQ(trial.world.events.size(), recorded + 1);
  group_report("no node has x");
  EXPECT_EQ(trial.world.events.size(), recorded + 2);
}

TEST(TrainingJob, runs_and_succeeds) {
  Trial trial("PyTorchJob", kMasterAndWorkers);
  trial.begin();
  trial.set_all("Running");
  trial.look();
  EXPECT_EQ(trial.conditions(), "Created Running");
  EXPECT_EQ(trial.status()["replicaStatuses"]["Worker"]["active"].as_int(), 2);
  trial.set("j-master-0", "Succeeded", 0);
  trial.look();
  EXPECT_EQ(trial.conditions(), "Created Running=False Succeeded");
  EXPECT_EQ(trial.reported(), "PyTorchJob j is successfully completed.");
  EXPECT_TRUE(trial.status().has("completionTime"));
  EXPECT_TRUE(trial.was_reported("PyTorchJobSucceeded: PyTorchJob j is successfully completed."));
  EXPECT_TRUE(trial.was_reported("ExitedWithCode: Pod: ns.j-master-0 exited with code 0"));
  EXPECT_EQ(trial.look().substr(0, 103),
            "event PyTorchJob ns/j Normal JobTerminated: Job has been terminated. Deleting PodGroup\ndelete PodGroup ");
  EXPECT_EQ(trial.status()["replicaStatuses"]["Worker"]["succeeded"].as_int(), 2);
  EXPECT_EQ(trial.look(), "");
  EXPECT_EQ(trial.pods().size(), 3u);
}

struct Ending {
  std::string_view kind, replicas, spec;
  std::string_view pod;
  std::string_view phase;
  int code;
  std::string_view conditions, message;
};

TEST(TrainingJob, is_judged_by_its_framework) {
  constexpr std::string_view kTwo = R"({"Worker": {"replicas": 2}})";
  constexpr Ending kRows[] = {
      {"PyTorchJob", kTwo, "{}", "j-worker-0", "Succeeded", 0, "Created Running", "PyTorchJob ns/j is running."},
      {"PyTorchJob", kTwo, R"({"elasticPolicy": {}})", "j-worker-1", "Succeeded", 0, "Created Running=False Succeeded",
       "PyTorchJob ns/j successfully completed."},
      {"PyTorchJob", kMasterAndWorkers, "{}", "j-worker-1", "Failed", 1, "Created Restarting",
       "PyTorchJob j is restarting because 1 Worker replica(s) failed."},
      {"PyTorchJob", R"({"Worker": {"replicas": 2, "restartPolicy": "Never"}})", "{}", "j-worker-1", "Failed", 1,
       "Created Running=False Failed", "PyTorchJob j is failed because 1 Worker replica(s) failed."},
      {"TFJob", kTwo, "{}", "j-worker-0", "Succeeded", 0, "Created Running=False Succeeded",
       "TFJob ns/j successfully completed."},
      {"TFJob", kTwo, "{}", "j-worker-1", "Succeeded", 0, "Created Running", "TFJob ns/j is running."},
      {"TFJob", kTwo, R"({"successPolicy": "AllWorkers"})", "j-worker-0", "Succeeded", 0, "Created Running",
       "TFJob ns/j is running."},
      {"TFJob", R"({"Chief": {}, "PS": {}})", "{}", "j-ps-0", "Failed", 3, "Created Running=False Failed",
       "TFJob ns/j has failed because 1 PS replica(s) failed."},
      {"TFJob", R"({"Chief": {}, "PS": {"restartPolicy": "OnFailure"}})", "{}", "j-ps-0", "Failed", 3,
       "Created Restarting", "job j is restarting because PS replica(s) failed."},
      {"TFJob", R"({"Worker": {"replicas": 2}})", R"({"enableDynamicWorker": true})", "j-worker-1", "Failed", 1,
       "Created Running", "TFJob ns/j is running."},
      {"XGBoostJob", kMasterAndWorkers, "{}", "j-worker-0", "Failed", 1, "Created Running=False Failed",
       "XGBoostJob j is failed because 1 Worker replica(s) failed."},
      {"XGBoostJob", R"({"Master": {}, "Worker": {"restartPolicy": "ExitCode"}})", "{}", "j-worker-0", "Failed", 137,
       "Created Restarting", "XGBoostJob j is restarting because 1 Worker replica(s) failed."},
      {"PaddleJob", kTwo, "{}", "j-worker-0", "Failed", 1, "Created Restarting",
       "PaddleJob j is restarting because 1 Worker replica(s) failed."},
      {"JAXJob", kTwo, "{}", "j-worker-0", "Failed", 1, "Created Running=False Failed",
       "JAXJob j is failed because 1 Worker replica(s) failed."},
      {"JAXJob", R"({"Worker": {}})", "{}", "j-worker-0", "Succeeded", 0, "Created Running=False Succeeded",
       "JAXJob ns/j successfully completed."},
      {"JAXJob", R"({"Worker": {"replicas": 2, "restartPolicy": "ExitCode"}})", "{}", "j-worker-0", "Failed", 1,
       "Created Running=False Failed", "job \"j\" is failing because \"Worker\" replica(s) failed."},
      {"MPIJob", R"({"Launcher": {}, "Worker": {"replicas": 2}})", "{}", "j-launcher", "Succeeded", 0,
       "Created Running=False Succeeded", "MPIJob j is successfully completed."},
      {"MPIJob", R"({"Launcher": {}, "Worker": {"replicas": 2}})", "{}", "j-worker-1", "Failed", 1,
       "Created Running=False Failed", "MPIJob j is failed because 1 Worker replica(s) failed."},
  };
  for (const Ending& row : kRows) {
    Trial trial(row.kind, row.replicas, "{}", row.spec);
    trial.begin();
    trial.set_all("Running");
    trial.look();
    trial.set(std::string(row.pod), row.phase, row.code);
    trial.look();
    EXPECT_EQ(trial.conditions(), row.conditions) << row.kind << " " << row.replicas << row.spec << row.pod;
    EXPECT_EQ(trial.reported(), row.message);
  }
}

TEST(TrainingJob, makes_failed_pods_again_up_to_its_limit) {
  Trial trial("JAXJob", R"({"Worker": {"replicas": 2, "restartPolicy": "ExitCode"}})", R"({"backoffLimit": 2})");
  trial.begin();
  for (int time = 1; time <= 2; ++time) {
    trial.set_all("Running");
    trial.look();
    EXPECT_EQ(trial.conditions(), "Created Running");
    trial.set("j-worker-1", "Failed", 137);
    trial.restart();
    EXPECT_NE(trial.look().find("delete Pod ns/j-worker-1\n"), std::string::npos);
    EXPECT_EQ(trial.status()["restartCount"].as_int(), time);
    EXPECT_TRUE(trial.was_reported("JAXJobRestarting: job j is restarting because Worker replica(s) failed."));
    EXPECT_EQ(trial.look().find("create Pod ns/j-worker-1\n"), 0u);
  }
  trial.set_all("Running");
  trial.set("j-worker-0", "Failed", 255);
  trial.look();
  EXPECT_EQ(trial.conditions(), "Created Running=False Failed");
  EXPECT_EQ(trial.reported(), "Job j has failed because it has reached the specified backoff limit");
  trial.world.gone();
  EXPECT_TRUE(trial.pods().empty());
}

TEST(TrainingJob, restarts_that_a_stranger_wrote_grow_no_further_than_a_count) {
  Trial trial("JAXJob", R"({"Worker": {"replicas": 1, "restartPolicy": "OnFailure"}})");
  trial.begin();
  trial.world.edit(trial.framework.resource, std::string(kKey))->edit("status").set("restartCount", INT32_MAX);
  trial.set("j-worker-0", "Failed", 1);
  trial.look();
  EXPECT_EQ(trial.status()["restartCount"].as_int(), INT32_MAX);
}

TEST(TrainingJob, counts_restarts_in_place) {
  Trial trial("PyTorchJob", R"({"Worker": {}})", R"({"backoffLimit": 3})");
  trial.begin();
  trial.set_all("Running");
  const auto restarts = [&](int count) {
    trial.world.edit(resources::kPods, "ns/j-worker-0")
        ->edit("status")
        .set("containerStatuses", parsed(base::format(R"([{{"name": "pytorch", "restartCount": {}}}])", count)));
    trial.look();
  };
  restarts(2);
  EXPECT_EQ(trial.conditions(), "Created Running");
  restarts(3);
  EXPECT_EQ(trial.conditions(), "Created Running=False Failed");
}

TEST(TrainingJob, ends_at_its_deadline) {
  Trial trial("TFJob", R"({"Worker": {"replicas": 2}})", R"({"activeDeadlineSeconds": 60})");
  trial.begin();
  trial.set_all("Running");
  trial.world.now = trial.world.now + base::seconds(50);
  const Plan plan = trial.controller->step(trial.world, std::string(kKey), {.now = trial.world.now});
  EXPECT_EQ(*plan.look_again(), base::seconds(10));
  trial.world.now = trial.world.now + base::seconds(10);
  trial.look();
  EXPECT_EQ(trial.reported(), "Job j has failed because it was active longer than specified deadline");
  trial.world.gone();
  trial.rest();
  EXPECT_TRUE(trial.pods().empty());
  EXPECT_EQ(trial.world.find(resources::kPodGroups, kKey), nullptr);
  EXPECT_TRUE(trial.world.all(resources::kServices).empty());
}

TEST(TrainingJob, cleans_up_as_it_says) {
  for (const auto& [policy, left] : {std::pair{"None", 3u}, std::pair{"Running", 1u}, std::pair{"All", 0u}}) {
    Trial trial("TFJob", R"({"PS": {}, "Worker": {"replicas": 2}})",
                base::format(R"({{"cleanPodPolicy": "{}"}})", policy));
    trial.begin();
    trial.set("j-ps-0", "Running");
    trial.set("j-worker-0", "Succeeded", 0);
    trial.rest();
    trial.world.gone();
    EXPECT_EQ(trial.pods().size(), left) << policy;
    EXPECT_EQ(trial.world.all(resources::kServices).size(), left) << policy;
    EXPECT_EQ(trial.world.find(resources::kPodGroups, kKey), nullptr);
  }
}

TEST(TrainingJob, goes_when_its_time_is_over) {
  Trial trial("XGBoostJob", R"({"Master": {"replicas": 1}})", R"({"ttlSecondsAfterFinished": 30})");
  trial.begin();
  trial.set("j-master-0", "Succeeded", 0);
  trial.rest();
  const Plan plan = trial.controller->step(trial.world, std::string(kKey), {.now = trial.world.now});
  EXPECT_EQ(*plan.look_again(), base::seconds(30));
  trial.world.now = trial.world.now + base::seconds(30);
  EXPECT_EQ(trial.look(), "delete XGBoostJob ns/j\n");
  EXPECT_TRUE(trial.was_reported("SuccessfulDeleteJob: Deleted job: j"));
}

TEST(TrainingJob, is_suspended_and_resumed) {
  Trial trial("JAXJob", R"({"Worker": {"replicas": 2}})");
  trial.begin();
  trial.set_all("Running");
  trial.look();
  const std::string began = trial.status()["startTime"].str();
  trial.world.edit(trial.framework.resource, std::string(kKey))->edit_path({"spec", "runPolicy"}).set("suspend", true);
  trial.look();
  EXPECT_EQ(trial.conditions(), "Created Running=False Suspended");
  EXPECT_EQ(trial.reported(), "JAXJob j is suspended.");
  EXPECT_FALSE(trial.status()["replicaStatuses"]["Worker"].has("active"));
  EXPECT_EQ(trial.world.find(resources::kPodGroups, kKey), nullptr);
  EXPECT_EQ(trial.look(), "");
  trial.world.edit(trial.framework.resource, std::string(kKey))->edit_path({"spec", "runPolicy"}).set("suspend", false);
  EXPECT_EQ(trial.look(), "") << "its pods still end";
  trial.world.gone();
  trial.world.now = trial.world.now + base::seconds(5);
  trial.look();
  EXPECT_EQ(trial.conditions(), "Created Running=False Suspended=False");
  EXPECT_EQ(trial.reported(), "JAXJob j is resumed.");
  EXPECT_NE(trial.status()["startTime"].str(), began);
  trial.admit();
  trial.look();
  trial.set_all("Running");
  trial.look();
  EXPECT_EQ(trial.conditions(), "Created Suspended=False Running");
}

TEST(TrainingJob, that_is_made_suspended_has_not_started) {
  Trial trial("PyTorchJob", kMasterAndWorkers, R"({"suspend": true})");
  trial.rest();
  EXPECT_EQ(trial.conditions(), "Created Suspended");
  EXPECT_FALSE(trial.status().has("startTime"));
  EXPECT_TRUE(trial.pods().empty());
}

TEST(TrainingJob, changes_its_number_of_workers) {
  Trial trial("PyTorchJob", R"({"Worker": {"replicas": 3}})", "{}",
              R"({"elasticPolicy": {"minReplicas": 1, "maxReplicas": 3}})");
  trial.begin();
  trial.set_all("Running");
  trial.look();
  trial.world.edit(trial.framework.resource, std::string(kKey))
      ->edit_path({"spec", "pytorchReplicaSpecs", "Worker"})
      .set("replicas", 1);
  const std::string text = trial.look();
  EXPECT_EQ(text.find("patch PodGroup ns/j [{\"op\":\"add\",\"path\":\"/spec/minMember\",\"value\":1}]\n"), 0u) << text;
  trial.world.gone();
  trial.rest();
  EXPECT_EQ(trial.pods(), std::vector<std::string>{"j-worker-0"});
  EXPECT_EQ(trial.world.all(resources::kServices).size(), 1u);
  EXPECT_EQ(trial.conditions(), "Created Running");
}

TEST(TrainingJob, removes_services_that_outlived_their_pods) {
  Trial trial("PyTorchJob", R"({"Worker": {"replicas": 3}})", "{}",
              R"({"elasticPolicy": {"minReplicas": 1, "maxReplicas": 3}})");
  trial.begin();
  trial.set_all("Running");
  trial.world.refuse = [](const Action& action) -> std::optional<base::Error> {
    if (action.verb != Action::Verb::kDelete || action.kind != "Service") return std::nullopt;
    return base::make_error(base::Code::kUnavailable, "a fault");
  };
  trial.world.edit(trial.framework.resource, std::string(kKey))
      ->edit_path({"spec", "pytorchReplicaSpecs", "Worker"})
      .set("replicas", 1);
  trial.look();
  trial.world.gone();
  EXPECT_EQ(trial.pods(), std::vector<std::string>{"j-worker-0"});
  EXPECT_EQ(trial.world.all(resources::kServices).size(), 3u);
  trial.world.refuse = {};
  trial.rest();
  ASSERT_EQ(trial.world.all(resources::kServices).size(), 1u);
  EXPECT_EQ(api::name_of(*trial.world.all(resources::kServices).front()), "j-worker-0");
}

TEST(TrainingJob, says_what_stands_in_its_way) {
  Trial trial("PyTorchJob", kMasterAndWorkers);
  trial.world.put(
      resources::kPodGroups,
      parsed(R"({"kind": "PodGroup", "metadata": {"name": "j", "namespace": "ns"}, "status": {"phase": "Running"}})"));
  trial.rest();
  EXPECT_TRUE(
      trial.was_reported("FailedCreatePodGroup: PodGroup ns/j exists and does not belong to this job; delete it, or "
                         "give the job another name"));
  EXPECT_TRUE(trial.pods().empty());
  EXPECT_EQ(trial.world.events.size(), 1u);
  trial.world.erase(resources::kPodGroups, std::string(kKey));
  trial.world.put(resources::kPods,
                  parsed(R"({"kind": "Pod", "metadata": {"name": "j-worker-1", "namespace": "ns"}})"));
  trial.begin();
  EXPECT_TRUE(
      trial.was_reported("FailedCreatePod: Error creating: pod \"j-worker-1\" exists and does not belong to this job"));
  EXPECT_TRUE(trial.was_reported("SuccessfulCreatePod: Created pod: j-worker-0"));
}

TEST(TrainingJob, tells_why_pods_cannot_be_made) {
  Trial trial("JAXJob", R"({"Worker": {}})");
  trial.world.refuse = [](const Action& action) -> std::optional<base::Error> {
    if (action.verb != Action::Verb::kCreate) return std::nullopt;
    return base::make_error(base::Code::kForbidden, "queue `q` is not open");
  };
  trial.rest();
  EXPECT_EQ(trial.conditions(), "Created");
  EXPECT_TRUE(trial.was_reported("FailedCreatePodGroup: Error creating: queue `q` is not open"));
}

TEST(TrainingJob, of_another_manager_is_left_alone) {
  Trial trial("TFJob", R"({"Worker": {}})", R"({"managedBy": "kueue.x-k8s.io/multikueue"})");
  EXPECT_EQ(trial.look(), "");
}

TEST(MpiJob, has_its_objects_before_its_pods) {
  Trial trial("MPIJob", R"({"Launcher": {}, "Worker": {"replicas": 2}})");
  trial.look();
  trial.admit();
  const std::string text = trial.look();
  const std::size_t status_first = text.find("--\n") + 3;
  EXPECT_EQ(text.substr(0, 14), "status MPIJob ");
  EXPECT_EQ(text.substr(status_first),
            "create ServiceAccount ns/j-launcher\ncreate ConfigMap ns/j-config\ncreate Role ns/j-launcher\n"
            "--\ncreate RoleBinding ns/j-launcher\n--\ncreate Pod ns/j-worker-0\ncreate Pod ns/j-worker-1\n"
            "create Pod ns/j-launcher\n");
  trial.set_all("Running");
  trial.look();
  EXPECT_NE((*trial.world.find(resources::kConfigMaps, "ns/j-config"))["data"]["discover_hosts.sh"].as_string().find(
                "echo j-worker-0:1\necho j-worker-1:1\n"),
            std::string_view::npos);
  EXPECT_TRUE(trial.was_reported("MPIJobRunning: MPIJob ns/j is running"));
}

TEST(MpiJob, has_one_launcher_whatever_its_template_is_labelled) {
  Trial trial("MPIJob", R"({"Launcher": {}, "Worker": {"replicas": 1}})");
  trial.world.edit(trial.framework.resource, std::string(kKey))
      ->edit_path({"spec", "mpiReplicaSpecs", "Launcher", "template", "metadata", "labels"})
      .set(kReplicaIndex, "5");
  trial.begin();
  EXPECT_EQ(trial.pods(), (std::vector<std::string>{"j-launcher", "j-worker-0"}));
  EXPECT_EQ(trial.look(), "");
  // One that was made with the label.
  Json* launcher = trial.world.edit(resources::kPods, "ns/j-launcher");
  ASSERT_NE(launcher, nullptr);
  EXPECT_FALSE((*launcher)["metadata"]["labels"].has(kReplicaIndex));
  launcher->edit_path({"metadata", "labels"}).set(kReplicaIndex, "5");
  EXPECT_EQ(trial.look(), "");
}

TEST(MpiJob, does_not_take_what_is_not_its_own) {
  Trial trial("MPIJob", R"({"Launcher": {}, "Worker": {"replicas": 2}})");
  trial.world.put(resources::kConfigMaps,
                  parsed(R"({"kind": "ConfigMap", "metadata": {"name": "j-config", "namespace": "ns"}})"));
  trial.begin();
  EXPECT_TRUE(trial.was_reported(
      R"(ErrResourceExists: Resource "j-config" of MPIJobKind "ConfigMap" already exists and is not managed by MPIJob)"));
  EXPECT_TRUE(trial.pods().empty());
}

// A user who may make MPIJobs need not have the right to bind; what the Role says is another's wish.
TEST(MpiJob, binds_no_role_but_its_own) {
  const auto role = R"({"kind": "Role", "metadata": {"name": "j-launcher", "namespace": "ns"},
      "rules": [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]})";
  Trial trial("MPIJob", R"({"Launcher": {}, "Worker": {"replicas": 2}})");
  trial.world.put(kRoles, parsed(role));
  trial.begin();
  EXPECT_EQ(trial.world.find(kRoleBindings, "ns/j-launcher"), nullptr);
  EXPECT_TRUE(trial.was_reported(
      R"(ErrResourceExists: Resource "j-launcher" of MPIJobKind "Role" already exists and is not managed by MPIJob)"));

  Trial blind("MPIJob", R"({"Launcher": {}, "Worker": {"replicas": 2}})");
  blind.world.refuse = [](const Action& action) -> std::optional<base::Error> {
    if (action.resource != kRoles) return {};
    return base::make_error(base::Code::kAlreadyExists, "there is one that the view does not show yet");
  };
  blind.begin();
  EXPECT_NE(blind.world.find(resources::kConfigMaps, "ns/j-config"), nullptr);
  EXPECT_EQ(blind.world.find(kRoleBindings, "ns/j-launcher"), nullptr);
}

TEST(TrainingJob, has_no_pods_in_other_namespaces) {
  Trial trial("PyTorchJob", R"({"Worker": {"replicas": 1}})");
  trial.begin();
  for (const api::ResourceId& resource : {resources::kPods, resources::kServices}) {
    Json copy = *trial.world.find(resource, "ns/j-worker-0");
    copy.edit("metadata").set("namespace", "elsewhere");
    trial.world.put(resource, std::move(copy));
    trial.world.erase(resource, "ns/j-worker-0");
  }
  trial.look();
  EXPECT_NE(trial.world.find(resources::kPods, "ns/j-worker-0"), nullptr);
  EXPECT_NE(trial.world.find(resources::kServices, "ns/j-worker-0"), nullptr);
}

TEST(TrainingJob, has_groups_of_other_schedulers) {
  Trial trial("PyTorchJob", kMasterAndWorkers, R"({"schedulingPolicy": {"scheduleTimeoutSeconds": 30, "queue": "q"}})",
              "{}", {.plugin_scheduler = "mine"});
  trial.look();
  const Json* group = trial.world.find(kPluginGroups, kKey);
  ASSERT_NE(group, nullptr);
  EXPECT_EQ((*group)["spec"].dump(), R"({"minMember":3,"scheduleTimeoutSeconds":30})");
  EXPECT_EQ((*group)["apiVersion"].as_string(), "scheduling.x-k8s.io/v1alpha1");
  trial.look();
  const Json& pod = *trial.world.find(resources::kPods, "ns/j-worker-1");
  EXPECT_EQ(pod["spec"]["schedulerName"].as_string(), "mine");
  EXPECT_EQ(api::label_of(pod, "scheduling.x-k8s.io/pod-group"), "j");
  EXPECT_TRUE(pod["metadata"]["annotations"].is_null());
  EXPECT_EQ(trial.look(), "");
  trial.set_all("Running");
  trial.look();
  trial.set("j-master-0", "Succeeded", 0);
  trial.rest();
  EXPECT_EQ(trial.world.find(kPluginGroups, kKey), nullptr);
}

constexpr std::string_view kElastic = R"({"elasticPolicy": {"minReplicas": 1, "maxReplicas": 3,
    "metrics": [{"type": "Resource", "resource": {"name": "cpu"}}]}})";

TEST(TrainingJob, has_an_autoscaler) {
  Trial trial("PyTorchJob", R"({"Worker": {"replicas": 2}})", "{}", kElastic, {.autoscalers = true});
  trial.begin();
  const Json& made = *trial.world.find(kAutoscalers, kKey);
  EXPECT_EQ(made["spec"].dump(),
            R"({"scaleTargetRef":{"apiVersion":"kubeflow.org/v1","kind":"PyTorchJob","name":"j"},"minReplicas":1,)"
            R"("maxReplicas":3,"metrics":[{"type":"Resource","resource":{"name":"cpu"}}]})");
  // Fields that the server fills in are not a difference; what the job says is.
  trial.world.edit(kAutoscalers, std::string(kKey))->edit("spec").set("behavior", Json::object());
  EXPECT_EQ(trial.look(), "");
  trial.world.edit(trial.framework.resource, std::string(kKey))
      ->edit_path({"spec", "elasticPolicy"})
      .set("maxReplicas", 5);
  EXPECT_EQ(trial.look().substr(0, 61), "patch HorizontalPodAutoscaler ns/j [{\"op\":\"replace\",\"path\":\"/");
  // The server writes quantities its own way.
  for (Json* one : {trial.world.edit(trial.framework.resource, std::string(kKey)),
                    trial.world.edit(kAutoscalers, std::string(kKey))}) {
    const bool is_stored = one->operator[]("kind").as_string() != "PyTorchJob";
    Json& of = is_stored ? one->edit("spec") : one->edit_path({"spec", "elasticPolicy"});
    of.edit("metrics")
        .edit(std::size_t{0})
        .edit("resource")
        .set("target",
             parsed(base::format(R"({{"type": "AverageValue", "averageValue": "{}"}})", is_stored ? "1" : "1000m")));
  }
  EXPECT_EQ(trial.look(), "");
  trial.world.edit(trial.framework.resource, std::string(kKey))->edit_path({"spec", "runPolicy"}).set("suspend", true);
  trial.look();
  EXPECT_EQ(trial.world.find(kAutoscalers, kKey), nullptr);
}

TEST(TrainingJob, goes_on_when_what_it_has_beside_its_pods_cannot_be_changed) {
  Trial trial("PyTorchJob", R"({"Worker": {"replicas": 2}})", "{}", kElastic, {.autoscalers = true});
  trial.begin();
  trial.world.refuse = [](const Action& action) -> std::optional<base::Error> {
    if (action.verb != Action::Verb::kPatch) return std::nullopt;
    return base::make_error(base::Code::kInvalid, base::format("this {} is refused", action.kind));
  };
  Json& spec = trial.world.edit(trial.framework.resource, std::string(kKey))->edit("spec");
  spec.edit("elasticPolicy").set("maxReplicas", 5);
  spec.edit_path({"runPolicy", "schedulingPolicy"}).set("minAvailable", 1);
  trial.set_all("Running");
  trial.look();
  EXPECT_EQ(trial.conditions(), "Created Running");
  EXPECT_TRUE(trial.was_reported("FailedUpdateHPA: Error updating: this HorizontalPodAutoscaler is refused"));
  EXPECT_TRUE(trial.was_reported("FailedUpdatePodGroup: Error updating: this PodGroup is refused"));
}

TEST(TrainingJob, says_that_there_are_no_autoscalers) {
  Trial trial("PyTorchJob", R"({"Worker": {"replicas": 2}})", "{}", kElastic);
  trial.begin();
  EXPECT_TRUE(trial.was_reported(
      "FailedCreateHPA: spec.elasticPolicy.metrics has no effect: this cluster serves no autoscaling/v2, so that "
      "nothing changes the number of workers; use kubectl scale"));
  EXPECT_EQ(trial.pods().size(), 2u);
}

}  // namespace
}  // namespace controllers::training
