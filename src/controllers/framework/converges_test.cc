// Controllers whose every write may fail, and whose process may end at any step, still come to what was asked for, and
// then want nothing.
#include <gtest/gtest.h>

#include "base/format.h"
#include "controllers/colocation/controller.h"
#include "controllers/cronjob/controller.h"
#include "controllers/framework/trial_for_tests.h"
#include "controllers/gc/controller.h"
#include "controllers/jobflow/controller.h"
#include "controllers/jobtemplate/controller.h"
#include "controllers/podgroup/controller.h"

namespace controllers {
namespace {

using api::Json;
namespace resources = api::resources;

constexpr std::string_view kCronJob = R"({"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "CronJob",
    "metadata": {"name": "c", "namespace": "ns", "uid": "U"}, "spec": {"schedule": "* * * * *", "concurrencyPolicy": "{}",
    "successfulJobsHistoryLimit": 2, "jobTemplate": {"spec": {}}}})";
constexpr std::string_view kFlow = R"({"apiVersion": "flow.volcano.sh/v1alpha1", "kind": "JobFlow",
    "metadata": {"name": "f", "namespace": "ns", "uid": "F"}, "spec": {"flows": [{"name": "a"},
      {"name": "b", "dependsOn": {"targets": ["a"]}}, {"name": "c", "dependsOn": {"targets": ["a"], "probe":
        {"tcpSocketList": [{"taskName": "t", "port": 7}]}}}, {"name": "d", "dependsOn": {"targets": ["b", "c"]}}]}})";

void move_jobs(TestWorld& world, base::Duration lasts) {
  for (auto& [key, job] : world.objects[resources::kJobs]) {
    const std::string phase = job["status"]["state"]["phase"].str();
    const auto made = base::parse_rfc3339(job["metadata"]["creationTimestamp"].as_string());
    const bool over = made && world.now - *made >= lasts;
    const char* next = phase.empty() ? "Pending" : phase == "Pending" ? "Running" : over ? "Completed" : nullptr;
    if (phase == "Completed" || next == nullptr) continue;
    world.edit(resources::kJobs, key)
        ->edit_path({"status"})
        .set("state", Json::object({{"phase", next}, {"lastTransitionTime", base::format_rfc3339(world.now)}}));
  }
}

// No run twice, none beside another unless it may be, and the books agree with the Jobs.
TEST(CronJob, converges) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    Trial trial(seed, [] { return cronjob::make_cronjob_controller(); });
    TestWorld& world = trial.world;
    std::string text(kCronJob);
    const char* policies[] = {"Allow", "Forbid", "Replace"};
    const std::string policy = policies[seed % 3];
    text.replace(text.find("{}"), 2, policy);
    world.put_text(resources::kCronJobs, text);
    std::set<std::string> made;
    for (int step = 0; step < 60; ++step) {
      trial.faults = step < 45;
      for (int look = 0; look < 4; ++look) {
        const std::map<std::string, Json> before = world.objects[resources::kJobs];
        trial.look("ns/c");
        int unfinished = 0;
        for (const auto& [key, job] : world.objects[resources::kJobs]) {
          unfinished += job["status"]["state"]["phase"].as_string() != "Completed" ? 1 : 0;
          if (before.contains(key)) continue;
          ASSERT_TRUE(made.insert(key).second) << "seed " << seed << ": " << key << " twice";
        }
        if (policy == "Forbid") {
          ASSERT_LE(unfinished, 1) << "seed " << seed;
        }
      }
      move_jobs(world, base::seconds(100));
      world.now = world.now + base::seconds(20);
    }
    ASSERT_GE(made.size(), 5u) << "seed " << seed;
    for (int step = 0; step < 6; ++step) {
      world.edit(resources::kCronJobs, "ns/c")->edit("spec").set("suspend", true);
      move_jobs(world, {});
      ASSERT_TRUE(trial.comes_to_rest("ns/c")) << "seed " << seed;
    }
    const Json& cronjob = *world.find(resources::kCronJobs, "ns/c");
    EXPECT_TRUE(cronjob["status"]["active"].empty()) << "seed " << seed << cronjob.pretty();
    EXPECT_LE(world.all(resources::kJobs).size(), 2u) << "seed " << seed;
  }
}

TEST(JobFlow, converges) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    Trial trial(seed, [] { return jobflow::make_jobflow_controller(); });
    TestWorld& world = trial.world;
    world.put_text(resources::kJobFlows, kFlow);
    world.listening = {"10.0.0.1:7"};
    for (int step = 0; step < 80; ++step) {
      trial.faults = step < 40;
      for (const char* name : {"a", "b", "c", "d"})
        if (!world.find(resources::kJobTemplates, base::format("ns/{}", name)) && world.dice.chance(0.2))
          world.put_text(resources::kJobTemplates,
                         base::format(R"({{"kind": "JobTemplate", "metadata": {{"name": "{}", "namespace": "ns"}},
                                          "spec": {{"tasks": [{{"name": "t", "replicas": 1}}]}}}})",
                                      name));
      for (int look = 0; look < 3; ++look) trial.look("ns/f");
      // A pod that answers, of the Job whose probe is asked.
      if (const Json* job = world.find(resources::kJobs, "ns/f-a"))
        world.put_text(resources::kPods, base::format(R"({{"kind": "Pod", "metadata": {{"name": "f-a-t-0",
            "namespace": "ns", "uid": "P", "ownerReferences": [{{"uid": "{}", "controller": true}}]}},
            "status": {{"phase": "Running", "podIP": "10.0.0.1"}}}})",
                                                      api::uid_of(*job)));
      if (trial.faults && world.dice.chance(0.05) && !world.objects[resources::kJobs].empty())
        world.objects[resources::kJobs].erase(world.objects[resources::kJobs].begin());
      for (const auto& [name, after] : {std::pair{"b", "a"}, std::pair{"d", "b"}, std::pair{"d", "c"}})
        if (world.find(resources::kJobs, base::format("ns/f-{}", name))) {
          const Json& list = (*world.find(resources::kJobFlows, "ns/f"))["status"]["jobStatusList"];
          bool seen = false;
          for (const Json& one : list.items()) seen = seen || one["name"].as_string() == base::format("f-{}", after);
          ASSERT_TRUE(seen) << "seed " << seed << ": " << name << " before " << after;
        }
      move_jobs(world, base::seconds(25));
      world.now = world.now + base::seconds(5);
    }
    ASSERT_TRUE(trial.comes_to_rest("ns/f")) << "seed " << seed;
    const Json& status = (*world.find(resources::kJobFlows, "ns/f"))["status"];
    EXPECT_EQ(status["state"]["phase"].as_string(), "Succeed") << "seed " << seed << status.pretty();
    EXPECT_EQ(status["completedJobs"].size(), 4u) << "seed " << seed;
  }
}

TEST(JobTemplate, converges) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Trial trial(seed, [] { return jobtemplate::make_jobtemplate_controller(); });
    trial.world.put_text(resources::kJobTemplates,
                         R"({"kind": "JobTemplate", "metadata": {"name": "t", "namespace": "ns"}})");
    Json expected = Json::array();
    for (int step = 0; step < 20; ++step) {
      const std::string name = base::format("j{}", trial.world.dice.below(5));
      if (trial.world.dice.chance(0.5))
        trial.world.put_text(resources::kJobs, base::format(R"({{"kind": "Job", "metadata": {{"name": "{}",
            "namespace": "ns", "labels": {{"volcano.sh/createdByJobTemplate": "ns.t"}}}}}})",
                                                            name));
      else
        trial.world.erase(resources::kJobs, "ns/" + name);
      trial.look("ns/t");
    }
    for (const Json* job : trial.world.all(resources::kJobs)) expected.push_back(api::name_of(*job));
    ASSERT_TRUE(trial.comes_to_rest("ns/t"));
    const Json& listed = (*trial.world.find(resources::kJobTemplates, "ns/t"))["status"]["jobDependsOnList"];
    EXPECT_EQ(listed.is_null() ? Json::array() : listed, expected) << "seed " << seed;
  }
}

TEST(Colocation, converges) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Trial trial(seed, [] { return colocation::make_colocation_controller(); });
    TestWorld& world = trial.world;
    world.put_text(resources::kPods,
                   R"({"kind": "Pod", "metadata": {"name": "p", "namespace": "ns", "labels": {"a": "b"}}})");
    for (int step = 0; step < 12; ++step) {
      const std::string name = base::format("c{}", world.dice.below(3));
      if (world.dice.chance(0.6))
        world.put_text(
            resources::kColocationConfigurations,
            base::format(R"({{"kind": "ColocationConfiguration", "metadata": {{"name": "{}", "namespace": "ns"}},
                         "spec": {{"selector": {}, "memoryQos": {{"highRatio": {}}}}}}})",
                         name, world.dice.chance(0.5) ? "{}" : R"({"matchLabels": {"a": "x"}})",
                         world.dice.below(100)));
      else
        world.erase(resources::kColocationConfigurations, "ns/" + name);
      world.now = world.now + base::seconds(1);
      trial.look("ns/p");
    }
    ASSERT_TRUE(trial.comes_to_rest("ns/p")) << "seed " << seed;
  }
}

TEST(PlainPods, converge) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Trial trial(seed, [] { return podgroup::make_podgroup_controller({}); });
    TestWorld& world = trial.world;
    const api::ResourceId kinds[] = {{"apps", "v1", "replicasets"},
                                     {"apps", "v1", "daemonsets"},
                                     {"apps", "v1", "statefulsets"},
                                     {"batch", "v1", "jobs"}};
    const char* names[] = {"ReplicaSet", "DaemonSet", "StatefulSet", "Job"};
    const std::size_t owner = world.dice.below(5);  // 4: none
    std::string references;
    if (owner < 4) {
      world.put_text(kinds[owner],
                     base::format(R"({{"kind": "{}", "metadata": {{"name": "o", "namespace": "ns", "uid": "O",
          "annotations": {{"volcano.sh/x": "1", "scheduling.volcano.sh/group-min-member": "2"}}}}}})",
                                  names[owner]));
      references = base::format(
          R"(, "ownerReferences": [{{"kind": "{}", "name": "o", "uid": "O", "controller": true}}])", names[owner]);
    }
    for (const char* pod : {"p", "q"})
      world.put_text(resources::kPods, base::format(R"({{"apiVersion": "v1", "kind": "Pod", "metadata": {{"name": "{0}",
          "namespace": "ns", "uid": "U-{0}"{1}}}, "spec": {{"schedulerName": "volcano"}}}})",
                                                    pod, references));
    for (int look = 0; look < 6; ++look) trial.look(look % 2 == 0 ? "ns/p" : "ns/q");
    ASSERT_TRUE(trial.comes_to_rest("ns/p") && trial.comes_to_rest("ns/q")) << "seed " << seed;
    const std::string group = owner < 4 ? "podgroup-O" : "podgroup-U-p";
    EXPECT_EQ(api::annotation_of(*world.find(resources::kPods, "ns/p"), "scheduling.k8s.io/group-name"), group);
    EXPECT_EQ(world.all(resources::kPodGroups).size(), owner < 4 ? 1u : 2u);
    const Json& made = *world.find(resources::kPodGroups, "ns/" + group);
    EXPECT_EQ(made["spec"]["minMember"].as_int(), owner < 4 ? 2 : 1) << "seed " << seed;
    EXPECT_EQ(api::annotation_of(made, "volcano.sh/x"), owner < 4 ? "1" : "") << "seed " << seed;
  }
}

TEST(TimeToLive, converges) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Trial trial(seed, [] { return gc::make_gc_controller(); });
    Json& job = trial.world.put_text(resources::kJobs, R"({"kind": "Job", "metadata": {"name": "j", "namespace": "ns"},
        "spec": {"ttlSecondsAfterFinished": 60}})");
    job.edit_path({"status"})
        .set("state",
             Json::object({{"phase", "Failed"}, {"lastTransitionTime", base::format_rfc3339(trial.world.now)}}));
    trial.world.now = trial.world.now + base::seconds(59);
    for (int look = 0; look < 4; ++look) trial.look("ns/j");
    ASSERT_NE(trial.world.find(resources::kJobs, "ns/j"), nullptr);
    trial.world.now = trial.world.now + base::seconds(1);
    ASSERT_TRUE(trial.comes_to_rest("ns/j"));
    EXPECT_EQ(trial.world.find(resources::kJobs, "ns/j"), nullptr);
  }
}

}  // namespace
}  // namespace controllers
