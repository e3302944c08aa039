// Steps of a loop that start together.
#include "controllers/pipelines/loop_gang.h"

#include <gtest/gtest.h>

#include <ctime>

#include "api/pipelines/v2beta1/pipeline_run.h"
#include "base/format.h"
#include "controllers/pipelines/run.h"
#include "controllers/pipelines/trial_for_tests.h"

namespace controllers::pipelines {
namespace {

using api::Json;
namespace resources = api::resources;

Json parse(std::string_view text) {
  auto parsed = api::parse_json(text);
  EXPECT_TRUE(parsed.ok()) << text;
  return parsed.ok() ? *parsed : Json();
}

// A loop over four numbers: each turn prepares, and trains where its number is not `but`.
Json document(std::int64_t limit, int but = -1) {
  return parse(base::format(R"({{"schemaVersion": "2.1.0", "pipelineInfo": {{"name": "p"}},
    "deploymentSpec": {{"executors": {{
      "prepare": {{"container": {{"image": "i", "command": ["p"]}}}},
      "train": {{"container": {{"image": "i", "command": ["t"], "resources": {{"resourceCpuRequest": "2"}}}}}}}}}},
    "components": {{"prepare": {{"executorLabel": "prepare"}}, "train": {{"executorLabel": "train"}},
      "chosen": {{"inputDefinitions": {{"parameters": {{"n": {{"parameterType": "NUMBER_INTEGER"}}}}}},
        "dag": {{"tasks": {{"train": {{"componentRef": {{"name": "train"}}}}}}}}}},
      "turn": {{"inputDefinitions": {{"parameters": {{"n": {{"parameterType": "NUMBER_INTEGER"}}}}}}, "dag": {{"tasks": {{
        "prepare": {{"componentRef": {{"name": "prepare"}}}},
        "chosen": {{"componentRef": {{"name": "chosen"}}, "dependentTasks": ["prepare"],
          "inputs": {{"parameters": {{"n": {{"componentInputParameter": "n"}}}}}},
          "triggerPolicy": {{"condition": "inputs.parameter_values['n'] != {}"}}}}}}}}}}}},
    "root": {{"dag": {{"tasks": {{"loop": {{"componentRef": {{"name": "turn"}}, "iteratorPolicy": {{"parallelismLimit": {}}},
      "parameterIterator": {{"itemInput": "n", "items": {{"raw": "[0, 1, 2, 3]"}}}}}}}}}}}}}})",
                            but, limit));
}

Json platform(std::string_view executor, std::string_view value) {
  return parse(base::format(R"({{"platforms": {{"kubernetes": {{"deploymentSpec": {{"executors": {{
      "{}": {{"podMetadata": {{"annotations": {{"volcano.sh/loop-gang": "{}"}}}}}}}}}}}}}}}})",
                            executor, value));
}

std::string done(const std::string& path) { return path.ends_with(".prepare") ? report_of({}) : std::string(); }

std::vector<const Json*> groups(const Trial& trial) {
  std::vector<const Json*> out;
  for (const Json* one : trial.world.all(resources::kPodGroups)) out.push_back(one);
  return out;
}

TEST(LoopGang, PodsOfAStepOverAllTurnsAreOneGroup) {
  Trial trial;
  trial.run_document(document(4), platform("train", "true"), "{}",
                     R"(, "annotations": {"scheduling.volcano.sh/queue-name": "research"})");
  EXPECT_TRUE(groups(trial).empty()) << "no step of the gang has begun";
  trial.end_pod("root.loop[2].prepare", report_of({}));
  trial.settle();
  ASSERT_EQ(groups(trial).size(), 1U);
  const Json& group = *groups(trial)[0];
  EXPECT_EQ(
      group["spec"].dump(),
      R"({"minMember":4,"minResources":{"count/pods":"4","cpu":"8","pods":"4","requests.cpu":"8"},"queue":"research"})");
  EXPECT_EQ(api::controller_of(group)["kind"].as_string(), "PipelineRun");
  trial.play(done);
  ASSERT_EQ(groups(trial).size(), 1U);
  for (int i = 0; i < 4; ++i) {
    const Json* pod = trial.pod(base::format("root.loop[{}].chosen.train", i));
    ASSERT_NE(pod, nullptr);
    EXPECT_EQ(api::annotation_of(*pod, "scheduling.k8s.io/group-name"), api::name_of(*groups(trial)[0]));
  }
  EXPECT_TRUE(api::annotation_of(*trial.pod("root.loop[0].prepare"), "scheduling.k8s.io/group-name").empty());
  trial.play([](const std::string&) { return report_of({}); });
  EXPECT_EQ(trial.state(), "SUCCEEDED");
}

// The gang would wait for pods that never come.
TEST(LoopGang, ATurnWithoutTheStepIsNotWaitedFor) {
  Trial trial;
  trial.run_document(document(0, 1), platform("train", "true"), "{}", "");
  trial.end_pod("root.loop[0].prepare", report_of({}));
  trial.settle();
  EXPECT_EQ((*groups(trial)[0])["spec"]["minMember"].as_int(), 4);
  trial.restart();
  trial.end_pod("root.loop[1].prepare", report_of({}));  // its condition does not hold
  trial.settle();
  EXPECT_EQ((*groups(trial)[0])["spec"]["minMember"].as_int(), 3);
  EXPECT_EQ((*groups(trial)[0])["spec"]["minResources"]["cpu"].as_string(), "6");
  trial.end_pod("root.loop[2].prepare", "!3");
  trial.settle();
  EXPECT_EQ((*groups(trial)[0])["spec"]["minMember"].as_int(), 2);
  trial.end_pod("root.loop[3].prepare", report_of({}));
  trial.settle();
  EXPECT_EQ((*groups(trial)[0])["spec"]["minMember"].as_int(), 2);
}

TEST(LoopGang, ARunThatIsEndedLeavesNone) {
  Trial trial;
  trial.run_document(document(0), platform("train", "true"), "{}", "");
  trial.play(done);
  ASSERT_EQ(groups(trial).size(), 1U);
  trial.world.edit(resources::kPipelineRuns, "ns/r")->edit("spec").set("terminate", true);
  trial.settle();
  trial.play(done);
  EXPECT_EQ(trial.state(), "CANCELED");
  EXPECT_TRUE(groups(trial).empty());
}

struct Refused {
  std::int64_t limit;
  const char *executor, *value, *error;
};

TEST(LoopGang, WhatNeverStartsIsRefused) {
  const Refused rows[] = {
      {3, "train", "true",
       "loop: a gang of 4 turns never starts where 3 turns run at once: parallelism is less than the number of items, "
       "and a step has the annotation volcano.sh/loop-gang"},
      {0, "prepare", "yes",
       "loop: loop[0]: prepare: annotation volcano.sh/loop-gang of the step: \"yes\" is neither \"true\" nor "
       "\"false\""},
  };
  for (const Refused& row : rows) {
    Trial trial;
    trial.run_document(document(row.limit), platform(row.executor, row.value), "{}", "");
    trial.play(done);
    EXPECT_EQ(trial.state(), "FAILED") << row.error;
    EXPECT_EQ(trial.error(), row.error);
  }
  Trial trial;
  trial.run_document(parse(R"({"schemaVersion": "2.1.0", "pipelineInfo": {"name": "p"},
      "deploymentSpec": {"executors": {"train": {"container": {"image": "i"}}}},
      "components": {"train": {"executorLabel": "train"}},
      "root": {"dag": {"tasks": {"train": {"componentRef": {"name": "train"}}}}}})"),
                     platform("train", "true"), "{}", "");
  EXPECT_EQ(trial.error(), "train: annotation volcano.sh/loop-gang of the step: no loop is around the step");
}

// Thirty graphs of two tasks each that share their components: a thousand million ways to a step.
TEST(LoopGang, StepsOfSharedGraphsAreFoundInBoundedTime) {
  for (const bool is_gang : {false, true}) {
    Json components = parse(R"({"c30": {"executorLabel": "e"}})");
    for (int i = 0; i < 30; ++i) {
      const std::string next = base::format(R"({{"componentRef": {{"name": "c{}"}}}})", i + 1);
      components.set(base::format("c{}", i),
                     parse(base::format(R"({{"dag": {{"tasks": {{"a": {0}, "b": {0}}}}}}})", next)));
    }
    Json ir = parse(R"({"schemaVersion": "2.1.0", "pipelineInfo": {"name": "p"},
      "deploymentSpec": {"executors": {"e": {"container": {"image": "i", "command": ["c"]}}}},
      "root": {"dag": {"tasks": {"t": {"componentRef": {"name": "c0"}}}}}})");
    ir.set("components", std::move(components));
    const auto pipeline = ::pipelines::read_pipeline(ir, is_gang ? platform("e", "true") : Json());
    ASSERT_TRUE(pipeline.ok()) << pipeline.error().message;
    EXPECT_EQ(gang_steps(*pipeline, pipeline->component_of(pipeline->root.graph->tasks.front())).size(),
              is_gang ? ::pipelines::kTasksMax : 0);
  }
}

// A thousand steps in each of two thousand turns, of which a look has seen some hundreds begin.
TEST(LoopGang, ALookCostsWhatHasBegunAndNotTurnsTimesSteps) {
  Json components = parse(R"({"c10": {"executorLabel": "e"}})");
  for (int i = 0; i < 10; ++i) {
    const std::string next = base::format(R"({{"componentRef": {{"name": "c{}"}}}})", i + 1);
    components.set(base::format("c{}", i),
                   parse(base::format(R"({{"dag": {{"tasks": {{"a": {0}, "b": {0}}}}}}})", next)));
  }
  std::string items = "0";
  for (int i = 1; i < 2000; ++i) items += base::format(", {}", i);
  Json ir = parse(base::format(R"({{"schemaVersion": "2.1.0", "pipelineInfo": {{"name": "p"}},
    "deploymentSpec": {{"executors": {{"e": {{"container": {{"image": "i", "command": ["c"]}}}}}}}},
    "root": {{"dag": {{"tasks": {{"loop": {{"componentRef": {{"name": "turn"}},
      "parameterIterator": {{"itemInput": "n", "items": {{"raw": "[{}]"}}}}}}}}}}}}}})",
                               items));
  components.set("turn", parse(R"({"inputDefinitions": {"parameters": {"n": {"parameterType": "NUMBER_INTEGER"}}},
    "dag": {"tasks": {"t": {"componentRef": {"name": "c0"}}}}})"));
  ir.set("components", std::move(components));
  TestWorld world;
  const auto controller = make_run_controller({});
  world.use_indexes_of(*controller);
  Json& run = world.put_text(resources::kPipelineRuns,
                             R"({"kind": "PipelineRun", "metadata": {"name": "r", "namespace": "ns", "uid": "U"}})");
  run.edit("spec").set("pipelineSpec", std::move(ir));
  run.edit("spec").set("platformSpec", platform("e", "true"));
  std::clock_t took = 0;
  for (int look = 0; look < 5; ++look) {
    const std::clock_t begun = std::clock();
    const Plan plan = controller->step(world, "ns/r", {.now = world.now});
    took = std::clock() - begun;
    controller->finished("ns/r", world.apply(plan));
  }
  EXPECT_GT(world.all(resources::kPipelineTasks).size(), 500U);
  EXPECT_LT(static_cast<double>(took) / CLOCKS_PER_SEC, 0.5) << "seconds of the last look";
}

}  // namespace
}  // namespace controllers::pipelines
