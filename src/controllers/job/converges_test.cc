// From any state, with a quiet cluster, a controller comes to want nothing.
#include <gtest/gtest.h>

#include "base/format.h"
#include "controllers/framework/world_for_tests.h"
#include "controllers/job/controller.h"
#include "controllers/queue/controller.h"

namespace controllers {
namespace {

using api::Json;
namespace resources = api::resources;

constexpr std::string_view kKey = "ns/j";

const char* pick(base::Random& dice, std::initializer_list<const char*> words) {
  return words.begin()[dice.below(words.size())];
}

Json random_policies(base::Random& dice) {
  Json policies = Json::array();
  for (const char* event : {"PodFailed", "PodEvicted", "TaskCompleted", "Unknown", "TaskFailed", "PodPending"}) {
    if (!dice.chance(0.3)) continue;
    Json policy = Json::object({{"event", event},
                                {"action", pick(dice, {"RestartJob", "AbortJob", "CompleteJob", "TerminateJob",
                                                       "RestartTask", "RestartPod", "RestartPartition"})}});
    if (dice.chance(0.3)) policy.set("timeout", "2s");
    policies.push_back(std::move(policy));
  }
  return policies;
}

Json random_job(base::Random& dice) {
  Json tasks = Json::array();
  std::int64_t minimum = 0;
  for (const char* name : {"a", "b", "c"}) {
    if (!tasks.empty() && dice.chance(0.4)) continue;
    const auto replicas = static_cast<std::int64_t>(dice.below(4));
    const auto least = static_cast<std::int64_t>(dice.below(static_cast<std::uint64_t>(replicas) + 1));
    Json task = *api::parse_json(base::format(
        R"({{"name": "{}", "replicas": {}, "minAvailable": {}, "maxRetry": 3,
             "template": {{"spec": {{"containers": [{{"name": "c", "image": "i"}}]}}}}}})",
        name, replicas, least));
    if (!tasks.empty() && dice.chance(0.3)) task.set("dependsOn", *api::parse_json(R"({"name": ["a"]})"));
    task.set("policies", random_policies(dice));
    minimum += least;
    tasks.push_back(std::move(task));
  }
  Json spec = Json::object({{"minAvailable", minimum},
                            {"queue", "q"},
                            {"schedulerName", "volcano"},
                            {"maxRetry", static_cast<std::int64_t>(dice.below(4))},
                            {"tasks", std::move(tasks)},
                            {"policies", random_policies(dice)}});
  if (dice.chance(0.5)) spec.set("plugins", *api::parse_json(R"({"svc": [], "env": []})"));
  if (dice.chance(0.3))
    spec.set("volumes",
             *api::parse_json(R"([{"mountPath": "/m", "volumeClaim": {"accessModes": ["ReadWriteOnce"]}}])"));
  Json status = Json::object();
  if (dice.chance(0.8)) {
    status.set(
        "state",
        Json::object({{"phase", pick(dice, {"Pending", "Aborting", "Aborted", "Running", "Restarting", "Completing",
                                            "Completed", "Terminating", "Terminated", "Failed"})}}));
    status.set("version", static_cast<std::int64_t>(dice.below(3)));
    status.set("retryCount", static_cast<std::int64_t>(dice.below(3)));
    status.set("minAvailable", minimum);
  }
  return Json::object({{"apiVersion", "batch.volcano.sh/v1alpha1"},
                       {"kind", "Job"},
                       {"metadata", Json::object({{"name", "j"}, {"namespace", "ns"}, {"uid", "U"}})},
                       {"spec", std::move(spec)},
                       {"status", std::move(status)}});
}

void add_random_pods(TestWorld& world) {
  for (const char* task : {"a", "b", "z"})
    for (int index = 0; index < 5; ++index) {
      if (!world.dice.chance(0.3)) continue;
      Json pod = *api::parse_json(base::format(
          R"({{"apiVersion": "v1", "kind": "Pod", "metadata": {{"name": "j-{0}-{1}", "namespace": "ns",
               "annotations": {{"volcano.sh/job-name": "j", "volcano.sh/task-spec": "{0}", "volcano.sh/task-index": "{1}",
                                "volcano.sh/job-version": "{2}"}},
               "ownerReferences": [{{"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "name": "j", "uid": "U",
                                     "controller": true}}]}}, "status": {{"phase": "{3}"}}}})",
          task, index, world.dice.below(3),
          pick(world.dice, {"Pending", "Running", "Succeeded", "Failed", "Unknown"})));
      if (world.dice.chance(0.2)) pod.edit("metadata").set("deletionTimestamp", "2026-01-01T00:00:00Z");
      if (world.dice.chance(0.1))
        pod.edit_path({"metadata", "annotations"}).set("volcano.sh/controller-out-of-sync", "true");
      world.put(resources::kPods, std::move(pod));
    }
}

void let_the_cluster_move(TestWorld& world) {
  world.gone();
  for (auto& [key, group] : world.objects[resources::kPodGroups])
    if (const auto phase = group["status"]["phase"].str(); phase.empty() || phase == "Pending" || phase == "Unknown")
      group.edit("status").set("phase", "Inqueue");
  for (auto& [key, pod] : world.objects[resources::kPods])
    if (pod["status"]["phase"].as_string() == "Pending") pod.edit("status").set("phase", "Running");
  world.now = world.now + base::seconds(3);
}

TEST(Job, converges) {
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    TestWorld world(seed);
    auto controller = job::make_job_controller({});
    world.use_indexes_of(*controller);
    world.put(resources::kQueues, *api::parse_json(R"({"kind": "Queue", "metadata": {"name": "q"}})"));
    world.put(resources::kJobs, random_job(world.dice));
    add_random_pods(world);
    if (world.dice.chance(0.5))
      world.put(
          resources::kPodGroups,
          Json::object(
              {{"apiVersion", "scheduling.volcano.sh/v1beta1"},
               {"kind", "PodGroup"},
               {"metadata", Json::object({{"name", "j-U"}, {"namespace", "ns"}})},
               {"status", Json::object({{"phase", pick(world.dice, {"Pending", "Inqueue", "Running", "Unknown"})}})}}));
    std::string text = "?";
    for (int round = 0; round < 60 && !text.empty(); ++round) {
      for (int turn = 0; turn < 3; ++turn) {
        const Plan plan = controller->step(world, std::string(kKey), {.now = world.now});
        controller->finished(std::string(kKey), world.apply(plan));
        text = writes_nothing(plan) ? "" : plan.text();
      }
      let_the_cluster_move(world);
      if (text.empty()) {  // quiet only counts if the move changed nothing that matters
        const Plan again = controller->step(world, std::string(kKey), {.now = world.now});
        controller->finished(std::string(kKey), world.apply(again));
        text = writes_nothing(again) ? "" : again.text();
      }
    }
    ASSERT_EQ(text, "") << "seed " << seed << "\n" << world.find(resources::kJobs, kKey)->pretty();
  }
}

TEST(Queue, converges) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    TestWorld world(seed);
    auto controller = queue::make_queue_controller({});
    world.use_indexes_of(*controller);
    for (const char* name : {"root", "a", "b", "c", "d"}) {
      Json queue = Json::object(
          {{"apiVersion", "scheduling.volcano.sh/v1beta1"},
           {"kind", "Queue"},
           {"metadata", Json::object({{"name", name}})},
           {"status", Json::object({{"state", pick(world.dice, {"", "Open", "Closed", "Closing", "Unknown"})}})}});
      if (name != std::string_view("root"))
        queue.edit("spec").set("parent", pick(world.dice, name == std::string_view("a")
                                                              ? std::initializer_list<const char*>{"", "root"}
                                                              : std::initializer_list<const char*>{"root", "a"}));
      if (world.dice.chance(0.3))
        queue.edit_path({"metadata", "annotations"})
            .set("volcano.sh/closed-by-parent", pick(world.dice, {"true", "false"}));
      world.put(resources::kQueues, std::move(queue));
    }
    (*world.edit(resources::kQueues, "root")).edit("status").set("state", "Open");
    if (world.dice.chance(0.5))
      world.put(resources::kPodGroups,
                *api::parse_json(R"({"kind": "PodGroup", "metadata": {"name": "g", "namespace": "ns"},
                                                            "spec": {"queue": "b"}, "status": {"phase": "Running"}})"));
    bool quiet = false;
    for (int round = 0; round < 12 && !quiet; ++round) {
      quiet = true;
      for (const char* name : {"root", "a", "b", "c", "d"}) {
        const Plan plan = controller->step(world, name, {.now = world.now});
        controller->finished(name, world.apply(plan));
        quiet = quiet && writes_nothing(plan);
      }
    }
    ASSERT_TRUE(quiet) << "seed " << seed;
  }
}

}  // namespace
}  // namespace controllers
