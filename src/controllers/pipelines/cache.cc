// The key is a digest of all that the step's result may depend on.
#include "api/pipelines/v2beta1/pipeline_run.h"
#include "base/format.h"
#include "controllers/pipelines/hashes.h"
#include "controllers/pipelines/leaf_kinds.h"

namespace controllers::pipelines {

using api::Json;
namespace resources = api::resources;

namespace {

constexpr std::size_t kKeyLetters = 63;  // as a label has room for

Json outputs_in(const ::pipelines::Component& component) {
  Json out = Json::object();
  for (const auto& [name, spec] : component.output_parameters) out.set(name, ::pipelines::type_name(spec.type));
  for (const auto& [name, spec] : component.output_artifacts) out.set(name, spec.type);
  return out;
}

}  // namespace

std::string cache_key_of(const RunLook& look, const Place& place, const Values& inputs) {
  if (!place.task.may_be_cached) return {};
  const ::pipelines::Executor& executor = look.pipeline.executor_of(place.component);
  if (executor.kind != ::pipelines::Executor::Kind::kContainer) return {};
  Json content = Json::object({{"pipeline", look.facts.pipeline}, {"outputs", outputs_in(place.component)}});
  if (place.task.cache_key.empty()) {
    content.set("container", executor.container);
    content.set("platform", executor.platform);
    content.set("parameters", inputs.parameters);
    content.set("artifacts", inputs.artifacts);
  } else {
    content.set("key", place.task.cache_key);
  }
  return hash_of(content.sorted().dump(), kKeyLetters);
}

const Json* cached_task(const RunLook& look, const std::string& key) {
  if (key.empty()) return nullptr;
  const Json* newest = nullptr;
  for (const Json* one : look.objects.tasks_of_key(key)) {
    if ((*one)["status"]["state"].as_string() != "SUCCEEDED" || api::is_deleting(*one)) continue;
    if (newest == nullptr || (*one)["status"]["endTime"].as_string() > (*newest)["status"]["endTime"].as_string())
      newest = one;
  }
  return newest;
}

}  // namespace controllers::pipelines
