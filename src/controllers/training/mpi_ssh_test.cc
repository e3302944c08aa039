// The life of MPIJobs of v2beta1 (kubeflow.md 7).
#include "controllers/training/trial_for_tests.h"

namespace controllers::training {
namespace {

constexpr std::string_view kLauncherAndWorkers = R"({"Launcher": {}, "Worker": {"replicas": 2}})";
const api::ResourceId kBatch{"batch", "v1", "jobs"};

TEST(SshMpiJob, makes_its_pods_before_they_are_admitted) {
  Trial trial("MPIJob/v2beta1", kLauncherAndWorkers);
  EXPECT_EQ(trial.look().substr(0, 24), "create PodGroup ns/j\n--\n");
  EXPECT_EQ(trial.status()["conditions"].items()[0]["message"].as_string(), "MPIJob ns/j is created.");
  const std::string text = trial.look();
  EXPECT_EQ(text.substr(0, 14), "status MPIJob ");
  EXPECT_EQ(text.substr(text.find("--\n") + 3),
            "create Service ns/j\ncreate ConfigMap ns/j-config\ncreate Secret ns/j-ssh\n--\n"
            "create Pod ns/j-worker-0\ncreate Pod ns/j-worker-1\ncreate Pod ns/j-launcher\n");
  const Json& keys = *trial.world.find(resources::kSecrets, "ns/j-ssh");
  EXPECT_EQ(keys["type"].as_string(), "kubernetes.io/ssh-auth");
  EXPECT_TRUE(keys["data"].has("ssh-privatekey"));
  EXPECT_TRUE(keys["data"]["ssh-publickey"].as_string().starts_with("ZWNkc2Etc2hhMi1uaXN0cDUyMS"));
  trial.set_all("Running");
  trial.look();
  EXPECT_EQ(trial.conditions(), "Created Running");
  EXPECT_EQ((*trial.world.find(resources::kConfigMaps, "ns/j-config"))["data"]["discover_hosts.sh"].as_string(),
            "#!/bin/sh\necho j-worker-0.j.ns.svc:1\necho j-worker-1.j.ns.svc:1\n");
  EXPECT_EQ(trial.look(), "");
  trial.set("j-launcher", "Succeeded", 0);
  trial.look();
  EXPECT_EQ(trial.conditions(), "Created Running=False Succeeded");
  EXPECT_EQ(trial.reported(), "MPIJob ns/j successfully completed.");
}

// Their queue would not count pods that run without it.
TEST(SshMpiJob, keeps_its_group_as_long_as_its_workers) {
  for (const bool fails : {false, true}) {
    Trial trial("MPIJob/v2beta1", kLauncherAndWorkers, R"({"backoffLimit": 0})");
    trial.begin();
    trial.set_all("Running");
    trial.look();
    trial.set("j-launcher", fails ? "Failed" : "Succeeded", fails ? 1 : 0);
    trial.rest();
    EXPECT_EQ(trial.conditions().ends_with(fails ? "Failed" : "Succeeded"), true) << trial.conditions();
    EXPECT_EQ(trial.pods(), (std::vector<std::string>{"j-launcher", "j-worker-0", "j-worker-1"}));
    EXPECT_NE(trial.world.find(resources::kPodGroups, kKey), nullptr) << fails;
  }
}

TEST(SshMpiJob, moves_its_group_to_the_queue_that_its_annotation_names) {
  Trial trial("MPIJob/v2beta1", kLauncherAndWorkers);
  trial.look();
  trial.world.edit(resources::kPodGroups, std::string(kKey))->edit("spec").set("queue", "default");
  trial.begin();
  const auto queue = [&] { return (*trial.world.find(resources::kPodGroups, kKey))["spec"]["queue"].str(); };
  EXPECT_EQ(queue(), "default");
  for (const auto& [named, got] : {std::pair{"gold", "gold"}, std::pair{"default", "gold"}}) {
    trial.world.edit(trial.framework.resource, std::string(kKey))
        ->edit_path({"metadata", "annotations"})
        .set("scheduling.volcano.sh/queue-name", named);
    trial.rest();
    EXPECT_EQ(queue(), got);
  }
}

TEST(SshMpiJob, keeps_the_policy_of_a_launcher_in_lower_case) {
  Trial trial("MPIJob/v2beta1", R"({"launcher": {"restartPolicy": "Never"}, "Worker": {"replicas": 1}})");
  trial.begin();
  EXPECT_EQ((*trial.world.find(resources::kPods, "ns/j-launcher"))["spec"]["restartPolicy"].as_string(), "Never");
}

TEST(SshMpiJob, cleans_up_workers_and_keeps_its_launcher) {
  Trial trial("MPIJob/v2beta1", kLauncherAndWorkers, R"({"cleanPodPolicy": "All", "ttlSecondsAfterFinished": 60})");
  trial.begin();
  trial.set_all("Running");
  trial.look();
  trial.set("j-launcher", "Succeeded", 0);
  trial.rest();
  trial.world.gone();
  EXPECT_EQ(trial.pods(), std::vector<std::string>{"j-launcher"});
  EXPECT_EQ(trial.world.find(resources::kPodGroups, kKey), nullptr);
  EXPECT_NE(trial.world.find(resources::kServices, "ns/j"), nullptr);
  trial.world.now = trial.world.now + base::seconds(61);
  trial.rest();
  trial.world.gone();
  EXPECT_TRUE(trial.pods().empty());
  EXPECT_NE(trial.world.find(resources::kSshMpiJobs, kKey), nullptr);
}

TEST(SshMpiJob, tries_its_launcher_again_as_a_job_does) {
  Trial trial("MPIJob/v2beta1", R"({"Launcher": {"restartPolicy": "Never"}, "Worker": {"replicas": 1}})",
              R"({"backoffLimit": 1})");
  trial.begin();
  int failed = 0;
  for (const char* after : {"Created Restarting", "Created Restarting Failed"}) {
    trial.set("j-launcher", "Failed", 1);
    trial.rest();
    EXPECT_EQ(trial.conditions(), after);
    trial.world.gone();
    trial.rest();
    EXPECT_EQ(trial.status()["replicaStatuses"]["Launcher"]["failed"].as_int(), ++failed) << "as a Job counts";
  }
  EXPECT_EQ(trial.reported(), "Job j has failed because it has reached the specified backoff limit");
  EXPECT_EQ(trial.pods(), (std::vector<std::string>{"j-launcher", "j-worker-0"}));  // its log can be read
}

TEST(SshMpiJob, waits_for_its_workers_if_it_is_told_to) {
  Trial trial("MPIJob/v2beta1", kLauncherAndWorkers, "{}", R"({"launcherCreationPolicy": "WaitForWorkersReady"})");
  trial.begin();
  EXPECT_EQ(trial.pods(), (std::vector<std::string>{"j-worker-0", "j-worker-1"}));
  for (const std::string& name : trial.pods())
    trial.world.edit(resources::kPods, "ns/" + name)
        ->edit("status")
        .set("conditions", parsed(R"([{"type": "Ready", "status": "True"}])"));
  trial.look();
  EXPECT_EQ(trial.pods().size(), 3u);
}

TEST(SshMpiJob, has_a_job_for_a_launcher_where_there_are_jobs) {
  Trial trial("MPIJob/v2beta1", kLauncherAndWorkers,
              R"({"backoffLimit": 3, "activeDeadlineSeconds": 9, "ttlSecondsAfterFinished": 7})", "{}",
              {.launcher_jobs = true});
  trial.begin();
  EXPECT_EQ(trial.pods(), (std::vector<std::string>{"j-worker-0", "j-worker-1"}));
  Json& launcher = *trial.world.edit(kBatch, "ns/j-launcher");
  EXPECT_EQ(launcher["spec"]["backoffLimit"].as_int(), 3);
  EXPECT_EQ(launcher["spec"]["activeDeadlineSeconds"].as_int(), 9);
  EXPECT_EQ(launcher["spec"]["ttlSecondsAfterFinished"].as_int(), 7);
  const Json pod = launcher["spec"]["template"];
  EXPECT_FALSE(pod["metadata"].has("name"));
  EXPECT_EQ(pod["metadata"]["labels"]["training.kubeflow.org/job-role"].as_string(), "launcher");
  EXPECT_EQ(pod["spec"]["restartPolicy"].as_string(), "OnFailure");
  Json made =
      Json::object({{"kind", "Pod"}, {"metadata", pod["metadata"]}, {"status", parsed(R"({"phase": "Running"})")}});
  made.edit("metadata").set("name", "j-launcher-x");
  made.edit("metadata").set("namespace", "ns");
  launcher.set("apiVersion", "batch/v1");
  made.edit("metadata").set("ownerReferences", Json::array({api::controller_reference(launcher)}));
  trial.world.put(resources::kPods, std::move(made));
  trial.set("j-worker-0", "Running");
  trial.set("j-worker-1", "Running");
  trial.look();
  EXPECT_EQ(trial.conditions(), "Created Running");
  trial.world.edit(trial.framework.resource, std::string(kKey))->edit_path({"spec", "runPolicy"}).set("suspend", true);
  trial.look();
  EXPECT_TRUE((*trial.world.find(kBatch, "ns/j-launcher"))["spec"]["suspend"].as_bool());
  trial.world.gone();
  trial.world.edit(trial.framework.resource, std::string(kKey))->edit_path({"spec", "runPolicy"}).set("suspend", false);
  trial.rest();
  EXPECT_FALSE((*trial.world.find(kBatch, "ns/j-launcher"))["spec"]["suspend"].as_bool());
  trial.world.edit(kBatch, "ns/j-launcher")
      ->set("status", parsed(R"({"failed": 4, "conditions": [{"type": "Failed", "status": "True",
                                 "reason": "BackoffLimitExceeded", "message": "too often"}]})"));
  trial.look();
  EXPECT_EQ(trial.reported(), "MPIJob ns/j has failed: BackoffLimitExceeded: too often");
  EXPECT_EQ(trial.status()["replicaStatuses"]["Launcher"].dump(), R"({"failed":4})");
}

TEST(SshMpiJob, counts_a_launcher_that_is_ended_at_the_deadline_and_none_that_was_deleted) {
  Trial trial("MPIJob/v2beta1", kLauncherAndWorkers, R"({"activeDeadlineSeconds": 60})");
  trial.begin();
  trial.set_all("Running");
  trial.rest();
  trial.set("j-launcher", "Failed", 1);
  trial.rest();
  trial.set("j-launcher", "Running");
  trial.rest();
  EXPECT_EQ(trial.status()["replicaStatuses"]["Launcher"].dump(), R"({"active":1,"failed":1})");
  trial.world.erase(resources::kPods, "ns/j-launcher");
  trial.rest();
  EXPECT_EQ(trial.status()["replicaStatuses"]["Launcher"].dump(), R"({"failed":1})");
  trial.world.now = trial.world.now + base::seconds(61);
  trial.set("j-launcher", "Running");
  trial.rest();
  EXPECT_EQ(trial.status()["replicaStatuses"]["Launcher"].dump(), R"({"failed":2})");
}

}  // namespace
}  // namespace controllers::training
