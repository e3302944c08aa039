// The pod of one attempt of a step.
#pragma once

#include <string>

#include "api/json/json.h"
#include "base/result.h"
#include "controllers/pipelines/options.h"
#include "controllers/pipelines/platform.h"
#include "controllers/pipelines/values.h"
#include "pipelines/ir/pipeline.h"
#include "pipelines/stage/stores.h"

namespace controllers::pipelines {

inline constexpr const char* kRunLabel = "pipelines.kubeflow.org/run";
inline constexpr const char* kQueueAnnotation = "scheduling.volcano.sh/queue-name";
inline constexpr const char* kStageVolume = "kfp-store";      // the helper
inline constexpr const char* kStoreVolume = "kfp-artifacts";  // the claim
inline constexpr const char* kPriorityAnnotation = "pipelines.volcano.sh/priority-class-name";

struct StepRequest {
  const api::Json& run;   // the PipelineRun
  const api::Json& task;  // the PipelineTask, which has a uid
  const RunFacts& facts;
  const ::pipelines::Component& component;
  const ::pipelines::Executor& executor;
  const Values& inputs;
  const ::pipelines::Stores& stores;
  std::int64_t attempt = 0;
  PlatformValue platform_value = {};
};

// The same for every look at the same attempt, so that a pod is made once.
std::string pod_name_of(const RunFacts& run, std::string_view path, std::int64_t attempt);
// The document that the command of this attempt gets.
api::Json executor_input_of(const StepRequest& request);
base::Result<api::Json> make_step_pod(const StepRequest& request, const Options& options);
// Whether a step reads or writes files of the store.
bool uses_store(const ::pipelines::Component& component);

// The ConfigMaps of the launcher and of its helper, which moves artifacts of stores, and the claim of artifacts, which
// each namespace with runs has.
api::Json launcher_object(std::string_view ns);
api::Json stage_object(std::string_view ns);
bool has_volume(const api::Json& pod, std::string_view name);
api::Json claim_object(std::string_view ns, const Options& options);

}  // namespace controllers::pipelines
