// A claim says which task made it, so that a look that is repeated knows its own.
#include "api/meta/resource.h"
#include "base/format.h"
#include "controllers/pipelines/hashes.h"
#include "controllers/pipelines/leaf_kinds.h"
#include "controllers/pipelines/run_settings.h"
#include "controllers/pipelines/step_pod.h"

namespace controllers::pipelines {

using api::Json;
namespace resources = api::resources;

namespace {

std::string claim_name(const RunLook& look, const Place& place, const Json& parameters) {
  if (const std::string_view name = parameters["pvc_name"].as_string(); !name.empty()) return std::string(name);
  const std::string id = hash_of(base::format("{}/{}", look.facts.uid, place.path), 16);
  return base::format("{}{}", id, parameters["pvc_name_suffix"].as_string());
}

Json claim_of(const RunLook& look, const Json& task, const std::string& name, const Json& parameters) {
  Json annotations = parameters["annotations"].is_object() ? parameters["annotations"] : Json::object();
  annotations.set(kTaskAnnotation, api::uid_of(task));
  Json requests = Json::object({{"requests", Json::object({{"storage", parameters["size"]}})}});
  Json spec = Json::object({{"accessModes", parameters["access_modes"]}, {"resources", std::move(requests)}});
  // An empty text in a constant means a volume that is there; a missing one the class of the cluster.
  if (const Json& name_of_class = parameters["storage_class_name"]; name_of_class.is_string())
    if (!name_of_class.as_string().empty() || !parameters["volume_name"].as_string().empty())
      spec.set("storageClassName", name_of_class);
  if (!parameters["volume_name"].as_string().empty()) spec.set("volumeName", parameters["volume_name"]);
  if (parameters["data_source"].is_object()) spec.set("dataSource", parameters["data_source"]);
  return Json::object({{"apiVersion", "v1"},
                       {"kind", "PersistentVolumeClaim"},
                       {"metadata", Json::object({{"name", name},
                                                  {"namespace", look.facts.ns},
                                                  {"labels", Json::object({{kRunLabel, look.facts.name}})},
                                                  {"annotations", std::move(annotations)}})},
                       {"spec", std::move(spec)}});
}

Standing end(RunLook& look, const Json& task, const char* state, const std::string& error, const Values& outputs = {}) {
  write_task(look, task, {.state = state, .error = error, .outputs = outputs});
  return {.is_over = true, .state = state, .error = error, .outputs = outputs};
}

Standing make(RunLook& look, const Place& place, const Json& task, const Json& parameters) {
  const std::string name = claim_name(look, place, parameters);
  if (const Json* claim = look.objects.named(resources::kPersistentVolumeClaims, name)) {
    if (api::annotation_of(*claim, kTaskAnnotation) != api::uid_of(task))
      return end(look, task, "FAILED", base::format("the claim {} is there already", name));
    Values outputs;
    outputs.parameters.set("name", name);
    return end(look, task, "SUCCEEDED", {}, outputs);
  }
  if (const auto refused = look.memory.refused.find(place.path); refused != look.memory.refused.end())
    return end(look, task, "FAILED", refused->second);
  Action& made = look.making.create(resources::kPersistentVolumeClaims, claim_of(look, task, name, parameters));
  made.account = base::format("{}:{}", look.facts.ns, look.facts.account);
  made.fate = place.path;
  return {};
}

Standing remove(RunLook& look, const Place& place, const Json& task, const Json& parameters) {
  const std::string name = parameters["pvc_name"].str();
  if (name.empty()) return end(look, task, "FAILED", "inputs.parameters.pvc_name: a name is required");
  if (const auto refused = look.memory.refused.find(place.path); refused != look.memory.refused.end())
    return end(look, task, "FAILED", refused->second);
  Action& removed =
      look.making.remove_by_name(resources::kPersistentVolumeClaims, "PersistentVolumeClaim", look.facts.ns, name);
  removed.account = base::format("{}:{}", look.facts.ns, look.facts.account);
  removed.missing_is_fine = true;
  removed.fate = place.path;
  return end(look, task, "SUCCEEDED", {});
}

}  // namespace

Standing attend_claim(RunLook& look, const Place& place, const Json& task, const ::pipelines::Executor& executor) {
  if (look.ends) return end(look, task, "CANCELED", {});
  const Json& parameters = task["status"]["inputs"]["parameters"];
  return executor.kind == ::pipelines::Executor::Kind::kMakesClaim ? make(look, place, task, parameters)
                                                                   : remove(look, place, task, parameters);
}

}  // namespace controllers::pipelines
