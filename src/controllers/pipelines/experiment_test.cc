// An experiment says when its newest run was made.
#include <gtest/gtest.h>

#include "api/pipelines/v2beta1/pipeline_run.h"
#include "controllers/pipelines/trial_for_tests.h"

namespace controllers::pipelines {
namespace {

using api::Json;
namespace resources = api::resources;

TEST(PipelineExperiment, KnowsTheTimeOfItsNewestRun) {
  Trial trial;
  trial.world.put_text(resources::kPipelineExperiments,
                       R"({"kind": "Experiment", "metadata": {"name": "default", "namespace": "ns", "uid": "E"}})");
  const auto recorded = [&trial] {
    return (*trial.world.find(resources::kPipelineExperiments, "ns/default"))["status"]["lastRunCreatedAt"].str();
  };
  trial.run("hello", "{}", R"(, "creationTimestamp": "2026-01-02T00:00:00Z")");
  EXPECT_EQ(recorded(), "2026-01-02T00:00:00Z");
  const std::vector<Json> both = compiled("hello");
  trial.run_document(both[0], both[1], "{}", R"(, "creationTimestamp": "2026-01-01T00:00:00Z")", "older");
  EXPECT_EQ(recorded(), "2026-01-02T00:00:00Z");
  trial.run_document(both[0], both[1], "{}", R"(, "creationTimestamp": "2026-01-03T00:00:00Z")", "newer");
  EXPECT_EQ(recorded(), "2026-01-03T00:00:00Z");
}

}  // namespace
}  // namespace controllers::pipelines
