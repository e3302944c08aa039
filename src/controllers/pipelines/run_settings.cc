// Seconds are numbers, or texts as 64 bit numbers of documents may be.
#include "controllers/pipelines/run_settings.h"

#include "api/meta/resource.h"
#include "base/format.h"
#include "controllers/pipelines/hashes.h"
#include "controllers/pipelines/step_pod.h"
#include "pipelines/ir/fields.h"

namespace controllers::pipelines {

using api::Json;

namespace {

base::Duration seconds_in(const Json& settings, const char* field, base::Duration missing) {
  const Json& value = settings[std::string_view(field)];
  if (value.is_null()) return missing;
  const auto seconds = ::pipelines::Field(value, field).number();
  return seconds.ok() && *seconds >= 0 ? base::seconds(*seconds) : missing;
}

}  // namespace

const Json& settings_of(const Json& run) {
  return run["spec"]["platformSpec"]["platforms"]["kubernetes"]["pipelineConfig"];
}

bool has_workspace(const Json& settings) { return settings["workspace"].is_object(); }

std::string workspace_name(const RunFacts& run) {
  return base::format("{}-{}-workspace", run.name.substr(0, 40), hash_of(run.uid, 6));
}

std::string account_of(const Json& run, const std::function<bool(std::string_view name)>& is_there) {
  if (const std::string named = run["spec"]["serviceAccountName"].str(); !named.empty()) return named;
  for (const char* usual : {"default-editor", "pipeline-runner"})
    if (is_there(usual)) return usual;
  return "default";
}

Json workspace_object(const RunFacts& facts, const Json& run, const Json& settings) {
  const Json& workspace = settings["workspace"];
  Json requests = Json::object({{"requests", Json::object({{"storage", workspace["size"]}})}});
  Json spec = Json::object({{"accessModes", Json::array({Json("ReadWriteOnce")})}, {"resources", std::move(requests)}});
  for (const Json::Member& one : workspace["kubernetes"]["pvcSpecPatch"].members())
    if (one.name() != "resources") spec.set(one.name(), one.value);
  Json owner = run;
  owner.set("apiVersion", "pipelines.kubeflow.org/v2beta1");
  owner.set("kind", "PipelineRun");
  return Json::object(
      {{"apiVersion", "v1"},
       {"kind", "PersistentVolumeClaim"},
       {"metadata", Json::object({{"name", workspace_name(facts)},
                                  {"namespace", facts.ns},
                                  {"labels", Json::object({{kRunLabel, facts.name}})},
                                  {"ownerReferences", Json::array({api::controller_reference(owner)})}})},
       {"spec", std::move(spec)}});
}

base::Duration deadline_of(const Json& settings) { return seconds_in(settings, "activeDeadlineSeconds", {}); }

base::Duration stay_of(const Json& settings, std::string_view state) {
  const base::Duration always = base::seconds(-1);
  const base::Duration any = seconds_in(settings, "resourceTtlOnCompletion", always);
  return seconds_in(settings, state == "SUCCEEDED" ? "resourceTtlOnSuccess" : "resourceTtlOnFailure", any);
}

}  // namespace controllers::pipelines
