// Training jobs that cannot run: each is told what to do, and has no pods.
#include <algorithm>

#include "controllers/training/trial_for_tests.h"

namespace controllers::training {
namespace {

constexpr std::string_view kMasterAndWorkers = R"({"Master": {"replicas": 1}, "Worker": {"replicas": 2}})";

TEST(TrainingJob, waits_for_its_priority_class) {
  const auto trial_of = [](std::string_view policy, bool gang) {
    Trial trial("JAXJob", R"({"Worker": {}})", policy, "{}", {.gang = gang});
    trial.world.put(resources::kPriorityClasses, parsed(R"({"kind": "PriorityClass", "metadata": {"name": "low"}})"));
    return trial;
  };
  const auto expect_waiting = [](Trial& trial, std::string_view field) {
    trial.begin();
    EXPECT_EQ(trial.conditions(), "Created");
    EXPECT_TRUE(trial.was_reported(base::format(
        "PriorityClassNotFound: spec.{}: no PriorityClass with name high was found; create it, or name another one: "
        "until then the job has no pods",
        field)));
    EXPECT_EQ(trial.world.events.size(), 1u);
    EXPECT_TRUE(trial.pods().empty());
    EXPECT_TRUE(trial.world.all(resources::kServices).empty());
    EXPECT_EQ(trial.world.find(resources::kPodGroups, kKey), nullptr) << "it would hold room in its queue";
    const Json& made = trial.world.put(resources::kPriorityClasses,
                                       parsed(R"({"kind": "PriorityClass", "metadata": {"name": "high"}})"));
    const Wake wake = trial.wake_of(resources::kPriorityClasses);
    EXPECT_EQ(wake.keys(trial.world, made), Keys{std::string(kKey)});
    trial.begin();
    EXPECT_EQ(trial.pods().size(), 1u);
    // A job that has begun goes on.
    trial.world.erase(resources::kPriorityClasses, "high");
    EXPECT_EQ(trial.look(), "");
  };
  Trial gang = trial_of(R"({"schedulingPolicy": {"priorityClass": "high"}})", true);
  expect_waiting(gang, "runPolicy.schedulingPolicy.priorityClass");
  for (const bool is_gang : {true, false}) {
    Trial of_pods = trial_of("{}", is_gang);
    of_pods.world.edit(of_pods.framework.resource, std::string(kKey))
        ->edit_path({"spec", "jaxReplicaSpecs", "Worker", "template", "spec"})
        .set("priorityClassName", "high");
    expect_waiting(of_pods, "jaxReplicaSpecs[Worker].template.spec.priorityClassName");
  }
}

TEST(TrainingJob, does_not_wait_for_priority_classes_that_are_hidden_from_it) {
  Trial trial("JAXJob", R"({"Worker": {}})", R"({"schedulingPolicy": {"priorityClass": "high"}})");
  trial.begin();
  EXPECT_EQ(trial.pods().size(), 1u);
}

struct Nonsense {
  std::string_view kind, replicas, container, name, message;
};

TEST(TrainingJob, that_makes_no_sense_says_so_and_has_no_pods) {
  constexpr std::string_view kLong = "a-name-of-sixty-characters-which-is-one-that-a-job-may-have";
  constexpr Nonsense kRows[] = {
      {"JAXJob", R"({"Worker": {}})", "other", "j",
       "spec.jaxReplicaSpecs[Worker].template.spec.containers: Required value: must have at least one container with "
       "name jax"},
      {"MPIJob", R"({"Worker": {}})", "mpi", "j", "MPIReplicaSpec is not valid: Master ReplicaSpec must be present"},
      {"PyTorchJob", R"({"Worker": {"replicas": 11}})", "pytorch", kLong,
       "spec.pytorchReplicaSpecs[Worker]: the name of a pod, "
       "a-name-of-sixty-characters-which-is-one-that-a-job-may-have-worker-10, is longer than 63 characters; use a "
       "shorter name for the job"},
      {"TFJob", R"({"Worker": {"replicas": 20001}})", "tensorflow", "j",
       "spec.tfReplicaSpecs: 20001 replicas are more than 20000"},
      {"TFJob", "{}", "tensorflow", "j", "spec.tfReplicaSpecs: Required value: must be required"},
      {"JAXJob", R"({"Worker": {"replicas": -3}})", "jax", "j",
       "spec.jaxReplicaSpecs[Worker].replicas: Invalid value: -3: must be greater than or equal to 0"},
      {"MPIJob", R"({"Launcher": {}, "Worker": {"replicas": -1}})", "mpi", "j",
       "spec.mpiReplicaSpecs[Worker].replicas: Invalid value: -1: must be greater than or equal to 0"},
  };
  for (const Nonsense& row : kRows) {
    Trial trial(row.kind, row.replicas);
    Json job = *trial.world.find(trial.framework.resource, kKey);
    Json& map = job.edit("spec").edit(std::string(trial.framework.replica_map));
    if (map.has("Worker"))
      map.edit_path({"Worker", "template", "spec", "containers"}).edit(0).set("name", row.container);
    job.edit("metadata").set("name", row.name);
    const std::string key = base::format("ns/{}", row.name);
    trial.world.put(trial.framework.resource, job);
    for (int i = 0; i < 3; ++i) trial.world.turn(*trial.controller, key);
    EXPECT_EQ(trial.world.events,
              std::vector<std::string>{
                  base::format("{0}FailedValidation: {0} failed validation because {1}", row.kind, row.message)});
    EXPECT_TRUE(trial.pods().empty());
    EXPECT_EQ(trial.world.find(resources::kPodGroups, key), nullptr);
  }
}

// A job that has begun goes on although no further pod can be made.
TEST(TrainingJob, whose_spec_is_spoilt_goes_on) {
  const auto spoilt = [](std::string_view kind, std::string_view replicas, const auto& spoil) {
    Trial trial(kind, replicas);
    trial.begin();
    trial.set_all("Running");
    trial.look();
    spoil(trial.world.edit(trial.framework.resource, std::string(kKey))
              ->edit_path({"spec", std::string(trial.framework.replica_map)}));
    trial.rest();
    EXPECT_EQ(trial.conditions(), "Created Running") << kind;
    for (const Json* pod : trial.world.all(resources::kPods)) EXPECT_FALSE(api::is_deleting(*pod)) << kind;
    EXPECT_EQ(trial.look(), "") << kind;
    return trial;
  };
  const auto rename = [](Json& map) {
    map.edit_path({"Worker", "template", "spec", "containers"}).edit(std::size_t{0}).set("name", "other");
  };
  Trial succeeds = spoilt("JAXJob", R"({"Worker": {"replicas": 2}})", rename);
  EXPECT_TRUE(succeeds.was_reported(
      "JAXJobFailedValidation: JAXJob failed validation because spec.jaxReplicaSpecs[Worker].template.spec.containers: "
      "Required value: must have at least one container with name jax"));
  succeeds.set_all("Succeeded");
  succeeds.look();
  EXPECT_EQ(succeeds.conditions(), "Created Running=False Succeeded");
  Trial stops = spoilt("JAXJob", R"({"Worker": {"replicas": 2}})", rename);
  stops.world.edit(stops.framework.resource, std::string(kKey))->edit_path({"spec", "runPolicy"}).set("suspend", true);
  stops.rest();
  stops.world.gone();
  EXPECT_EQ(stops.conditions(), "Created Running=False Suspended");
  EXPECT_TRUE(stops.pods().empty());
  const auto no_launcher = [](Json& map) { map.erase("Launcher"); };
  const auto count = [](std::string_view type, int number) {
    return [type, number](Json& map) { map.edit(std::string(type)).set("replicas", number); };
  };
  constexpr std::string_view kLauncherAndWorker = R"({"Launcher": {}, "Worker": {"replicas": 1}})";
  spoilt("MPIJob", kLauncherAndWorker, no_launcher);
  spoilt("MPIJob", kLauncherAndWorker, count("Launcher", 0));
  spoilt("MPIJob/v2beta1", kLauncherAndWorker, no_launcher);
  spoilt("JAXJob", R"({"Worker": {"replicas": 2}})", count("Worker", -3));
}

TEST(TrainingJob, says_that_a_master_does_not_resolve) {
  Trial trial("PyTorchJob", kMasterAndWorkers);
  trial.begin();
  trial.world.edit(resources::kPods, "ns/j-worker-1")
      ->edit("status")
      .set("initContainerStatuses",
           parsed(R"([{"name": "init-pytorch", "state": {"terminated": {"exitCode": 1, "reason": "Error"}}}])"));
  trial.rest();
  EXPECT_TRUE(trial.was_reported(
      "MasterNotResolved: Pod j-worker-1 waited in vain for the name j-master-0 to resolve; look at that "
      "pod, its service, and the cluster's DNS"));
  EXPECT_EQ(std::ranges::count_if(trial.world.events, [](const std::string& one) { return one.starts_with("Master"); }),
            1);
}

TEST(TrainingJob, whose_master_never_resolves_ends_at_its_limit) {
  Trial trial("PyTorchJob", kMasterAndWorkers, R"({"backoffLimit": 2})");
  trial.begin();
  for (int restarts = 1; restarts <= 2; ++restarts) {
    EXPECT_EQ(trial.conditions(), "Created");
    if (restarts == 2) trial.restart();  // an operator that sees only the end says why, too
    Json& status = trial.world.edit(resources::kPods, "ns/j-worker-1")->edit("status");
    status.set("phase", "Pending");
    status.set("initContainerStatuses",
               parsed(base::format(R"([{{"name": "init-pytorch", "restartCount": {}, "state": {{"waiting": {{}}}},
                                        "lastState": {{"terminated": {{"exitCode": 1}}}}}}])",
                                   restarts)));
    trial.look();
  }
  EXPECT_EQ(trial.reported(), "Job j has failed because it has reached the specified backoff limit");
  EXPECT_TRUE(trial.was_reported(
      "MasterNotResolved: Pod j-worker-1 waited in vain for the name j-master-0 to resolve; look at that pod, its "
      "service, and the cluster's DNS"));
  trial.rest();
  trial.world.gone();
  EXPECT_TRUE(trial.pods().empty());
}

TEST(TrainingJob, whose_worker_always_fails_ends_at_its_limit) {
  Trial trial("PyTorchJob", kMasterAndWorkers, R"({"backoffLimit": 2})");
  trial.begin();
  for (int i = 0; i < 3; ++i) {
    trial.set("j-worker-1", "Failed", 1);
    trial.rest();
    trial.world.gone();
    trial.rest();
  }
  EXPECT_EQ(trial.reported(), "Job j has failed because it has reached the specified backoff limit");
  EXPECT_TRUE(trial.pods().empty());
  EXPECT_TRUE(trial.world.all(resources::kServices).empty());
}

std::function<std::optional<base::Error>(const Action&)> refusal_of(Action::Verb verb, std::string_view kind,
                                                                    base::Code code) {
  return [verb, kind, code](const Action& action) -> std::optional<base::Error> {
    if (action.verb != verb || action.kind != kind) return std::nullopt;
    return base::make_error(code, "a fault");
  };
}

// Its pods are all there is of a job that is not known to have failed.
TEST(TrainingJob, that_fails_at_a_limit_says_so_before_its_pods_go) {
  Trial trial("PyTorchJob", kMasterAndWorkers, R"({"backoffLimit": 0})");
  trial.begin();
  trial.set_all("Running");
  trial.look();
  trial.set("j-worker-1", "Failed", 1);
  trial.world.refuse = refusal_of(Action::Verb::kStatus, "PyTorchJob", base::Code::kConflict);
  trial.rest();
  trial.world.gone();
  EXPECT_EQ(trial.pods().size(), 3u);
  // A pod that could not be deleted then goes later.
  trial.world.refuse = refusal_of(Action::Verb::kDelete, "Pod", base::Code::kUnavailable);
  trial.look();
  EXPECT_EQ(trial.conditions(), "Created Running=False Failed");
  EXPECT_TRUE(trial.status().has("completionTime"));
  trial.world.gone();
  EXPECT_EQ(trial.pods().size(), 3u);
  trial.world.refuse = {};
  trial.restart();
  trial.rest();
  trial.world.gone();
  EXPECT_TRUE(trial.pods().empty());
  EXPECT_TRUE(trial.world.all(resources::kServices).empty());
  EXPECT_EQ(trial.look(), "");
}

TEST(TrainingJob, counts_a_restart_once_and_before_the_pod_goes) {
  Trial trial("JAXJob", R"({"Worker": {"replicas": 2, "restartPolicy": "OnFailure"}})", R"({"backoffLimit": 1})");
  trial.begin();
  trial.set_all("Running");
  trial.look();
  trial.set("j-worker-1", "Failed", 137);
  trial.world.refuse = refusal_of(Action::Verb::kStatus, "JAXJob", base::Code::kConflict);
  trial.rest();
  EXPECT_EQ(trial.pods().size(), 2u);
  EXPECT_EQ(trial.status()["restartCount"].as_int(), 0);
  trial.world.refuse = refusal_of(Action::Verb::kDelete, "Pod", base::Code::kUnavailable);
  trial.rest();
  EXPECT_EQ(trial.status()["restartCount"].as_int(), 1);
  EXPECT_EQ(trial.conditions(), "Created Restarting");
  trial.world.refuse = {};
  trial.rest();
  EXPECT_EQ(trial.status()["restartCount"].as_int(), 1);
  EXPECT_EQ((*trial.world.find(resources::kPods, "ns/j-worker-1"))["status"]["phase"].as_string(), "Pending");
}

TEST(TrainingJob, stays_restarting_while_a_failed_pod_goes) {
  Trial trial("PyTorchJob", kMasterAndWorkers);
  trial.begin();
  trial.set_all("Running");
  trial.look();
  trial.set("j-worker-1", "Failed", 1);
  trial.world.edit(resources::kPods, "ns/j-worker-1")
      ->edit("metadata")
      .set("finalizers", Json::array({Json("example.com/wait")}));
  trial.rest();
  EXPECT_TRUE(api::is_deleting(*trial.world.find(resources::kPods, "ns/j-worker-1")));
  EXPECT_EQ(trial.conditions(), "Created Restarting");
  const std::size_t recorded = trial.world.events.size();
  for (int i = 0; i < 3; ++i) {
    trial.world.now = trial.world.now + base::seconds(5);
    EXPECT_EQ(trial.look(), "");
  }
  EXPECT_EQ(trial.world.events.size(), recorded);
}

TEST(TrainingJob, that_a_failed_pod_fails_keeps_that_pod) {
  struct {
    std::string_view kind, replicas, pod;
  } const kRows[] = {
      {"MPIJob", R"({"Launcher": {}, "Worker": {"replicas": 2, "restartPolicy": "OnFailure"}})", "j-worker-1"},
      {"MPIJob", R"({"Launcher": {"restartPolicy": "Always"}, "Worker": {"replicas": 2}})", "j-launcher"},
      {"XGBoostJob", R"({"Master": {}, "Worker": {"restartPolicy": "OnFailure"}})", "j-worker-0"}};
  for (const auto& row : kRows) {
    Trial trial(row.kind, row.replicas);
    trial.begin();
    trial.set_all("Running");
    trial.look();
    trial.set(std::string(row.pod), "Failed");
    // A pod that goes beyond its own limit fails by itself.
    Json& status = trial.world.edit(resources::kPods, base::format("ns/{}", row.pod))->edit("status");
    status.set("reason", "Evicted");
    status.set("message", "Usage of EmptyDir volume \"v\" exceeds the limit \"1Mi\". ");
    trial.rest();
    EXPECT_EQ(trial.conditions(), "Created Running=False Failed") << row.kind << row.pod;
    EXPECT_FALSE(trial.status().has("restartCount"));
    EXPECT_NE(trial.world.find(resources::kPods, base::format("ns/{}", row.pod)), nullptr) << row.kind;
  }
}

// Each of 4,000 is told of all others, in 100 KiB.
TEST(TrainingJob, of_large_pods_gets_some_at_each_look) {
  Trial trial("TFJob", R"({"Worker": {"replicas": 4000}})");
  trial.look();
  trial.admit();
  std::size_t before = 0;
  for (int looks = 0; looks < 4; ++looks) {
    trial.look();
    const std::size_t now = trial.pods().size();
    EXPECT_LE(now, before + 100);
    before = now;
  }
  EXPECT_GE(before, 100u) << "the others come at the next looks";
}

TEST(MpiJob, whose_objects_are_refused_says_so) {
  for (const std::string_view kind : {"MPIJob", "MPIJob/v2beta1"}) {
    Trial trial(kind, R"({"Launcher": {}, "Worker": {"replicas": 1}})", "{}", "{}", {.gang = false});
    trial.world.refuse = refusal_of(Action::Verb::kCreate, "ConfigMap", base::Code::kForbidden);
    trial.rest();
    EXPECT_EQ(trial.conditions(), "Created");
    EXPECT_TRUE(trial.was_reported("FailedCreate: Error creating: a fault"));
    EXPECT_TRUE(trial.pods().empty());
  }
}

// A permanent failure is told as that, whatever limit of restarts is near, and its log can be read.
TEST(TrainingJob, whose_failure_is_permanent_restarts_nothing) {
  Trial trial("JAXJob", R"({"Worker": {"replicas": 3, "restartPolicy": "ExitCode"}})", R"({"backoffLimit": 1})");
  trial.begin();
  trial.set_all("Running");
  trial.look();
  for (const std::string& name : trial.pods()) trial.set(name, "Failed", 1);
  trial.rest();
  EXPECT_EQ(trial.reported(), "job \"j\" is failing because \"Worker\" replica(s) failed.");
  EXPECT_EQ(trial.pods().size(), 3u);
}

TEST(TrainingJob, counts_what_had_ended_after_its_deadline) {
  Trial trial("TFJob", R"({"Worker": {"replicas": 2}})", R"({"activeDeadlineSeconds": 60})");
  trial.begin();
  trial.set("j-worker-0", "Running");
  trial.set("j-worker-1", "Succeeded", 0);
  trial.rest();
  trial.world.now = trial.world.now + base::seconds(61);
  trial.rest();
  EXPECT_EQ(trial.conditions().substr(trial.conditions().rfind(' ') + 1), "Failed");
  EXPECT_EQ(trial.status()["replicaStatuses"]["Worker"]["succeeded"].as_int(), 1);
  EXPECT_FALSE(trial.status()["replicaStatuses"]["Worker"].has("active"));
}

// No event says that the name is free.
TEST(MpiJob, looks_again_at_what_has_its_name) {
  Trial trial("MPIJob", R"({"Launcher": {}, "Worker": {"replicas": 1}})");
  trial.world.put_text(resources::kConfigMaps, R"({"kind": "ConfigMap", "metadata": {"name": "j-config", "namespace":
    "ns", "uid": "other"}})");
  trial.begin();
  EXPECT_TRUE(trial.pods().empty());
  const Plan plan = trial.controller->step(trial.world, std::string(kKey), Turn{.now = trial.world.now});
  EXPECT_EQ(plan.look_again(), base::seconds(10));
  trial.world.erase(resources::kConfigMaps, "ns/j-config");
  trial.rest();
  EXPECT_EQ(trial.pods().size(), 2u);
}

TEST(TrainingJob, that_follows_no_metrics_any_more_has_no_autoscaler) {
  Trial trial("PyTorchJob", R"({"Worker": {"replicas": 2}})", "{}",
              R"({"elasticPolicy": {"minReplicas": 1, "maxReplicas": 3, "metrics": [{"type": "Resource"}]}})",
              {.autoscalers = true});
  trial.begin();
  ASSERT_NE(trial.world.find(kAutoscalers, kKey), nullptr);
  trial.world.edit(trial.framework.resource, std::string(kKey))->edit_path({"spec", "elasticPolicy"}).erase("metrics");
  trial.look();
  EXPECT_EQ(trial.world.find(kAutoscalers, kKey), nullptr);
}

TEST(TrainingJob, a_master_that_ends_at_once_is_made_again_more_and_more_seldom) {
  Trial trial("PyTorchJob", R"({"Master": {"restartPolicy": "ExitCode"}, "Worker": {"restartPolicy": "ExitCode"}})");
  trial.begin();
  std::set<std::string> made;
  for (int second = 0; second < 600; ++second) {
    trial.world.now = trial.world.now + base::seconds(1);
    trial.look();
    trial.world.gone();
    const Json* master = trial.world.find(api::resources::kPods, "ns/j-master-0");
    if (master == nullptr) continue;
    made.insert(std::string(api::uid_of(*master)));
    trial.set("j-master-0", "Failed", 137);
  }
  EXPECT_GE(made.size(), 5U);
  EXPECT_LE(made.size(), 9U);
  EXPECT_EQ(trial.status()["restartCount"].as_int(), static_cast<std::int64_t>(made.size()));
}

TEST(TrainingJob, over_a_quota_few_pods_are_asked_for_and_the_job_waits) {
  Trial trial("PyTorchJob", R"({"Master": {}, "Worker": {"replicas": 200}})");
  int asked = 0;
  bool over = true;
  trial.world.refuse = [&](const Action& action) -> std::optional<base::Error> {
    if (action.verb != Action::Verb::kCreate || action.kind != "Pod") return std::nullopt;
    ++asked;
    if (!over) return std::nullopt;
    return base::make_error(base::Code::kForbidden, "pods is forbidden: exceeded quota: q");
  };
  trial.begin();
  asked = 0;
  trial.look();
  EXPECT_LE(asked, 64);
  EXPECT_EQ(trial.pods().size(), 0U);
  EXPECT_EQ(trial.conditions(), "Created");
  over = false;
  trial.rest();
  EXPECT_EQ(trial.pods().size(), 201U);
}

// A job whose pods are refused says so in its status, and no longer once they are there.
TEST(TrainingJob, says_in_its_status_that_its_pods_are_refused) {
  constexpr std::string_view kQuota =
      R"(pods "j-worker-0" is forbidden: exceeded quota: team, requested: pods=1, used: pods=4, limited: pods=4)";
  constexpr std::pair<std::string_view, std::string_view> kRows[] = {
      {"PyTorchJob", R"({"Master": {}, "Worker": {}})"},
      {"TFJob", R"({"Chief": {}, "Worker": {}})"},
      {"XGBoostJob", R"({"Master": {}, "Worker": {}})"},
      {"JAXJob", R"({"Worker": {"replicas": 2}})"},
      {"PaddleJob", R"({"Worker": {"replicas": 2}})"},
      {"MPIJob", R"({"Launcher": {}, "Worker": {}})"},
      {"MPIJob/v2beta1", R"({"Launcher": {"restartPolicy": "Never"}, "Worker": {"replicas": 1}})"},
  };
  for (const auto& [kind, replicas] : kRows) {
    Trial trial(kind, replicas);
    trial.look();
    trial.admit();
    trial.look();
    const std::string key(kKey);
    for (const std::string& name : trial.pods()) trial.world.erase(resources::kPods, "ns/" + name);
    trial.world.refuse = [&](const Action& action) -> std::optional<base::Error> {
      if (action.verb != Action::Verb::kCreate || action.kind != "Pod") return std::nullopt;
      return base::Error{base::Code::kForbidden, std::string(kQuota)};
    };
    for (int failures = 0; failures < 3; ++failures)
      trial.world.turn(*trial.controller, key, failures, failures == 0 ? std::string() : std::string(kQuota));
    EXPECT_TRUE(trial.conditions().ends_with("CreationRefused")) << kind << ": " << trial.conditions();
    EXPECT_EQ(trial.reported(), base::format("pods cannot be made, short of pods=1: {}", kQuota)) << kind;
    const std::string at_rest = trial.world.turn(*trial.controller, key, 3, std::string(kQuota));
    EXPECT_EQ(at_rest.find("status "), at_rest.npos) << kind << ": " << at_rest;
    trial.restart();  // a new process has not been refused anything yet
    trial.look();
    EXPECT_TRUE(trial.conditions().ends_with("CreationRefused")) << kind << ": " << trial.conditions();
    trial.world.refuse = {};
    trial.rest();
    EXPECT_EQ(trial.conditions().find("CreationRefused"), std::string::npos) << kind << ": " << trial.conditions();
  }
}

}  // namespace
}  // namespace controllers::training
