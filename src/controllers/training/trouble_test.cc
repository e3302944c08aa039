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
    EXPECT_TRUE(trial.was_said(base::format(
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
    // What has begun goes on.
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

TEST(TrainingJob, says_that_a_master_does_not_resolve) {
  Trial trial("PyTorchJob", kMasterAndWorkers);
  trial.begin();
  trial.world.edit(resources::kPods, "ns/j-worker-1")
      ->edit("status")
      .set("initContainerStatuses",
           parsed(R"([{"name": "init-pytorch", "state": {"terminated": {"exitCode": 1, "reason": "Error"}}}])"));
  trial.rest();
  EXPECT_TRUE(trial.was_said(
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
  EXPECT_EQ(trial.said(), "Job j has failed because it has reached the specified backoff limit");
  EXPECT_TRUE(trial.was_said(
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
  EXPECT_EQ(trial.said(), "Job j has failed because it has reached the specified backoff limit");
  EXPECT_TRUE(trial.pods().empty());
  EXPECT_TRUE(trial.world.all(resources::kServices).empty());
}

}  // namespace
}  // namespace controllers::training
