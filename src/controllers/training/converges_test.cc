// Training jobs whose every write may fail, whose operator may end at any step, and whose pods do as they like, still
// come to an end; and then nothing is left to write.
#include <gtest/gtest.h>

#include "base/format.h"
#include "controllers/framework/world_for_tests.h"
#include "controllers/training/framework.h"

namespace controllers::training {
namespace {

using api::Json;
namespace resources = api::resources;

constexpr std::string_view kKey = "ns/j";

const char* pick(base::Random& dice, std::initializer_list<const char*> words) {
  return words.begin()[dice.below(words.size())];
}

class Storm {
 public:
  Storm(std::uint64_t seed, const Framework& kind) : world(seed), framework(kind) {
    restart();
    world.use_indexes_of(*controller);
    world.refuse = [this](const Action&) -> std::optional<base::Error> {
      if (!faults || !world.dice.chance(0.2)) return std::nullopt;
      return base::make_error(world.dice.chance(0.5) ? base::Code::kConflict : base::Code::kForbidden, "a fault");
    };
    world.put(framework.resource, random_job());
  }

  void restart() {
    controller =
        make_training_controller(framework.controller, {.gang = true, .mpi_version = framework.resource.version});
  }

  // True: nothing is left to write.
  bool look() {
    if (faults && world.dice.chance(0.1)) restart();
    const Plan plan = controller->step(world, std::string(kKey), {.now = world.now});
    Ending ending = world.apply(plan);
    if (faults && world.dice.chance(0.1))
      restart();
    else
      controller->finished(std::string(kKey), std::move(ending));
    return writes_nothing(plan);
  }

  // Pods start, end and vanish; groups are admitted; a person suspends, resumes and scales.
  void weather() {
    for (auto& [key, group] : world.objects[resources::kPodGroups])
      if (world.dice.chance(0.7)) group.edit("status").set("phase", "Inqueue");
    for (auto& [key, pod] : world.objects[resources::kPods]) {
      const std::string phase = pod["status"]["phase"].str();
      if (phase == "Pending" && world.dice.chance(0.6))
        enter(pod, "Running");
      else if (phase == "Running" && world.dice.chance(0.2))
        enter(pod, pick(world.dice, {"Succeeded", "Failed"}));
      else if (phase == "Running" && world.dice.chance(0.1))
        take_away(pod);
    }
    if (world.dice.chance(0.3)) world.gone();
    Json& job = *world.edit(framework.resource, std::string(kKey));
    if (world.dice.chance(0.15)) job.edit_path({"spec", "runPolicy"}).set("suspend", world.dice.chance(0.5));
    if (world.dice.chance(0.15) && job["spec"][framework.replica_map].has("Worker"))
      job.edit_path({"spec", framework.replica_map, "Worker"})
          .set("replicas", static_cast<std::int64_t>(1 + world.dice.below(4)));
    world.now = world.now + base::seconds(7);
  }

  // Everybody who is told to does; what runs succeeds in the end.
  void calm() {
    world.gone();
    if (Json* job = world.edit(framework.resource, std::string(kKey)))
      job->edit_path({"spec", "runPolicy"}).set("suspend", false);
    for (auto& [key, group] : world.objects[resources::kPodGroups]) group.edit("status").set("phase", "Inqueue");
    for (auto& [key, pod] : world.objects[resources::kPods]) {
      const std::string phase = pod["status"]["phase"].str();
      if (phase == "Pending")
        enter(pod, "Running");
      else if (phase == "Running")
        enter(pod, "Succeeded");
    }
    world.now = world.now + base::seconds(7);
  }

  const Json& job() { return *world.find(framework.resource, kKey); }

  TestWorld world;
  const Framework& framework;
  std::unique_ptr<Controller> controller;
  bool faults = true;

 private:
  // Somebody deletes it, or its node cannot keep it.
  void take_away(Json& pod) {
    if (world.dice.chance(0.5)) {
      pod.edit("metadata").set("deletionTimestamp", base::format_rfc3339(world.now));
    } else {
      pod.edit("status").set("phase", "Failed");
      pod.edit("status").set("reason", pick(world.dice, {"Evicted", "Terminated"}));
    }
  }

  void enter(Json& pod, std::string_view phase) {
    pod.edit("status").set("phase", phase);
    pod.edit("spec").set("nodeName", "n");
    if (phase == "Running") return;
    const int code = phase == "Succeeded" ? 0 : world.dice.chance(0.8) ? 137 : 1;
    pod.edit("status").set(
        "containerStatuses",
        *api::parse_json(base::format(R"([{{"name": "{}", "state": {{"terminated": {{"exitCode": {}}}}}}}])",
                                      framework.container, code)));
  }

  Json random_job() {
    base::Random& dice = world.dice;
    Json map = Json::object();
    for (const std::string_view type : framework.types) {
      const bool is_ssh = framework.launcher_is_a_job;
      const bool needed = type == "Worker" || type == "Launcher" || framework.kind == "XGBoostJob";
      if (!needed && dice.chance(0.5)) continue;
      const std::size_t count = type == "Worker" || type == "PS" ? 1 + dice.below(3) : 1;
      map.set(type, *api::parse_json(base::format(
                        R"({{"replicas": {}, "restartPolicy": "{}", "template": {{"spec": {{"containers":
                            [{{"name": "{}", "image": "i"}}]}}}}}})",
                        count,
                        is_ssh ? pick(dice, {"Never", "OnFailure"})
                               : pick(dice, {"Never", "OnFailure", "ExitCode", "Always"}),
                        framework.container)));
    }
    Json policy = Json::object({{"cleanPodPolicy", pick(dice, {"None", "Running", "All"})}});
    if (dice.chance(0.3)) policy.set("backoffLimit", static_cast<std::int64_t>(dice.below(4)));
    if (dice.chance(0.3)) policy.set("activeDeadlineSeconds", static_cast<std::int64_t>(20 + dice.below(60)));
    Json spec = Json::object({{"runPolicy", policy}});
    spec.set(framework.replica_map, map);
    return Json::object({{"apiVersion", framework.resource.api_version()},
                         {"kind", framework.kind},
                         {"metadata", *api::parse_json(R"({"name": "j", "namespace": "ns"})")},
                         {"spec", spec}});
  }
};

int times(const Json& status, std::string_view type) {
  int found = 0;
  for (const Json& one : status["conditions"].items()) found += one["type"].as_string() == type;
  return found;
}

TEST(TrainingJobs, converge) {
  int succeeded = 0;
  int failed = 0;
  for (const Framework& framework : frameworks())
    for (std::uint64_t seed = 0; seed < 150; ++seed) {
      Storm storm(seed, framework);
      for (int round = 0; round < 25; ++round) {
        storm.look();
        storm.weather();
      }
      storm.faults = false;
      int quiet = 0;
      for (int round = 0; round < 60 && quiet < 3; ++round) {
        const bool rests = storm.look() && storm.look();
        storm.calm();
        quiet = rests ? quiet + 1 : 0;
      }
      const Json& status = storm.job()["status"];
      ASSERT_EQ(quiet, 3) << framework.kind << " " << seed << "\n" << storm.job().pretty();
      const int ends = times(status, "Succeeded") + times(status, "Failed");
      ASSERT_GE(ends, 1) << framework.kind << " " << seed << "\n" << storm.job().pretty();
      ASSERT_TRUE(status.has("completionTime"));
      ASSERT_EQ(times(status, "Created"), 1);
      const std::string policy = storm.job()["spec"]["runPolicy"]["cleanPodPolicy"].str();
      if (!framework.launcher_is_a_job || policy != "None") {
        ASSERT_EQ(storm.world.find(resources::kPodGroups, kKey), nullptr) << framework.kind << " " << seed;
      }
      if (policy == "All") {
        storm.world.gone();
        for (const Json* pod : storm.world.all(resources::kPods))
          ASSERT_TRUE(framework.launcher_is_a_job && api::name_of(*pod) == "j-launcher")
              << framework.kind << " " << seed;
        ASSERT_LE(storm.world.all(resources::kServices).size(), framework.launcher_is_a_job ? 1u : 0u);
      }
      ++(times(status, "Failed") > 0 ? failed : succeeded);
    }
  EXPECT_GT(succeeded, 100);
  EXPECT_GT(failed, 100);
}

}  // namespace
}  // namespace controllers::training
