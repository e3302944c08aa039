// Pods of training jobs that others take away: each is made again, and none of them is a failure of its job.
#include "controllers/training/trial_for_tests.h"

namespace controllers::training {
namespace {

struct Kind {
  std::string_view name;
  std::string_view replicas;  // "%" stands for the restart policy
  std::string_view spec = "{}";
};

constexpr Kind kKinds[] = {
    {"PyTorchJob", R"({"Master": {"restartPolicy": "%"}, "Worker": {"replicas": 2, "restartPolicy": "%"}})"},
    {"PyTorchJob", R"({"Worker": {"replicas": 2, "restartPolicy": "%"}})"},
    {"PyTorchJob", R"({"Worker": {"replicas": 2, "restartPolicy": "%"}})", R"({"elasticPolicy": {}})"},
    {"TFJob", R"({"Chief": {"restartPolicy": "%"}, "PS": {"restartPolicy": "%"}, "Evaluator": {"restartPolicy": "%"},
                  "Worker": {"restartPolicy": "%"}})"},
    {"TFJob", R"({"Worker": {"replicas": 2, "restartPolicy": "%"}})", R"({"successPolicy": "AllWorkers"})"},
    {"XGBoostJob", R"({"Master": {"restartPolicy": "%"}, "Worker": {"replicas": 2, "restartPolicy": "%"}})"},
    {"PaddleJob", R"({"Worker": {"replicas": 2, "restartPolicy": "%"}})"},
    {"JAXJob", R"({"Worker": {"replicas": 2, "restartPolicy": "%"}})"},
    {"MPIJob", R"({"Launcher": {"restartPolicy": "%"}, "Worker": {"replicas": 2, "restartPolicy": "%"}})"},
    {"MPIJob/v2beta1", R"({"Launcher": {"restartPolicy": "%"}, "Worker": {"replicas": 2, "restartPolicy": "%"}})"},
};

// A pod that others take away as it is seen, one state after the other; then it is gone, unless the operator has to
// remove it.
struct Way {
  std::string_view name;
  std::vector<std::string_view> statuses;
  bool deleted = true;
};

const std::vector<Way>& ways() {
  static const std::vector<Way> kWays = {
      {"gone at once", {}},
      {"ends by a signal",
       {R"({"phase": "Running"})", R"({"phase": "Failed", "containerStatuses": [{"name": "%", "state": {"terminated":
           {"exitCode": 143, "finishedAt": "2026-03-20T10:00:31Z"}}}]})"}},
      {"ends with an error", {R"({"phase": "Failed", "containerStatuses": [{"name": "%", "state": {"terminated":
           {"exitCode": 1, "finishedAt": "2026-03-20T10:00:31Z"}}}]})"}},
      {"says that it is done", {R"({"phase": "Succeeded", "containerStatuses": [{"name": "%", "state": {"terminated":
           {"exitCode": 0, "finishedAt": "2026-03-20T10:00:30Z"}}}]})"}},
      {"preempted", {R"({"phase": "Running", "conditions": [{"type": "DisruptionTarget", "status": "True",
            "reason": "PreemptionByScheduler", "message": "by another"}]})"}},
      {"evicted",
       {R"({"phase": "Failed", "reason": "Evicted", "message": "The node was low on resource: memory."})"},
       false},
      {"target of a disruption",
       {R"({"phase": "Failed", "conditions": [{"type": "DisruptionTarget", "status": "True"}], "containerStatuses":
            [{"name": "%", "state": {"terminated": {"exitCode": 3}}}]})"},
       false},
      {"out with its node",
       {R"({"phase": "Failed", "reason": "Terminated", "message": "Node is shutting down"})"},
       false},
  };
  return kWays;
}

std::string with(std::string_view text, std::string_view word) {
  std::string out;
  for (const char letter : text) letter == '%' ? out.append(word) : out.append(1, letter);
  return out;
}

void take_away(Trial& trial, const std::string& pod, const Way& way) {
  const std::string key = "ns/" + pod;
  if (way.deleted) {
    Json& metadata = trial.world.edit(resources::kPods, key)->edit("metadata");
    metadata.set("deletionTimestamp", "2026-03-20T10:01:00Z");
    metadata.set("deletionGracePeriodSeconds", 30);
  }
  for (const std::string_view status : way.statuses) {
    trial.world.edit(resources::kPods, key)->set("status", parsed(with(status, trial.framework.container)));
    trial.rest();
  }
  if (way.deleted) {
    trial.world.erase(resources::kPods, key);
    trial.rest();
  }
}

// It has none of these policies.
const std::set<std::string_view> kNotOfSsh = {"ExitCode", "Always"};

TEST(DisruptedPods, are_made_again_and_fail_no_job) {
  for (const Kind& kind : kKinds)
    for (const char* policy : {"Never", "OnFailure", "ExitCode", "Always"})
      for (const Way& way : ways()) {
        if (kind.name == "MPIJob/v2beta1" && kNotOfSsh.contains(policy)) continue;
        Trial trial(kind.name, with(kind.replicas, policy), R"({"backoffLimit": 0})", kind.spec);
        trial.begin();
        trial.set_all("Running");
        trial.rest();
        const std::vector<std::string> names = trial.pods();
        ASSERT_GE(names.size(), 2u);
        for (const std::string& name : names) {
          const std::string what = base::format("{} {} {} {} {}", kind.name, kind.spec, policy, name, way.name);
          const std::string uid(api::uid_of(*trial.world.find(resources::kPods, "ns/" + name)));
          take_away(trial, name, way);
          const Json* again = trial.world.find(resources::kPods, "ns/" + name);
          ASSERT_NE(again, nullptr) << what << trial.conditions();
          EXPECT_NE(api::uid_of(*again), uid) << what;
          EXPECT_EQ(trial.conditions(), "Created Running") << what << trial.reported();
          EXPECT_FALSE(trial.status().has("restartCount")) << what;
          trial.set(name, "Running");
          trial.rest();
          EXPECT_EQ(trial.conditions(), "Created Running") << what;
          trial.world.now = trial.world.now + base::minutes(2);
        }
        EXPECT_EQ(trial.pods(), names);
      }
}

TEST(DisruptedPods, are_told_of) {
  Trial trial("TFJob", R"({"Worker": {"replicas": 2}})");
  trial.begin();
  trial.set_all("Running");
  trial.world.edit(resources::kPods, "ns/j-worker-1")
      ->set("status", parsed(R"({"phase": "Failed", "reason": "Evicted", "message": "The node was low on memory."})"));
  trial.rest();
  EXPECT_TRUE(
      trial.was_reported("Evicted: Pod j-worker-1 was taken away and is made again: The node was low on memory."));
}

// Somebody clears up a pod that has a finalizer: how it ended was known before.
TEST(DisruptedPods, are_none_that_had_ended_before) {
  for (const auto& [phase, code, conditions] :
       {std::tuple{"Failed", 1, "Created Running=False Failed"}, {"Succeeded", 0, "Created Running=False Succeeded"}}) {
    Trial trial("TFJob", R"({"Worker": {"replicas": 2}})");
    trial.begin();
    trial.set_all("Running");
    trial.rest();
    Json& pod = *trial.world.edit(resources::kPods, "ns/j-worker-0");
    pod.edit("metadata").set("deletionTimestamp", "2026-03-20T10:01:00Z");
    pod.edit("metadata").set("deletionGracePeriodSeconds", 30);
    pod.set("status", parsed(base::format(R"({{"phase": "{}", "containerStatuses": [{{"name": "tensorflow", "state":
        {{"terminated": {{"exitCode": {}, "finishedAt": "2026-03-20T10:00:29Z"}}}}}}]}})",
                                          phase, code)));
    trial.rest();
    EXPECT_EQ(trial.conditions(), conditions);
  }
}

}  // namespace
}  // namespace controllers::training
