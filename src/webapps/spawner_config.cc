// The built-in one offers no image, but lets any be named.
#include "webapps/spawner_config.h"

#include "api/json/yaml.h"
#include "base/format.h"
#include "webapps/objects.h"

namespace webapps {

using api::Json;

namespace {

constexpr std::string_view kNamespace = "kubeflow", kName = "jupyter-web-app-config", kKey = "spawner_ui_config.yaml";
constexpr std::string_view kBuiltIn = R"({
  "image": {"value": "", "options": []}, "allowCustomImage": true, "imagePullPolicy": {"value": "IfNotPresent"},
  "cpu": {"value": "500m", "limitFactor": "none"}, "memory": {"value": "1Gi", "limitFactor": "1.0"},
  "gpus": {"value": {"num": "none", "vendors": [{"limitsKey": "nvidia.com/gpu", "uiName": "NVIDIA"}]}},
  "workspaceVolume": {"value": null}, "dataVolumes": {"value": []}, "configurations": {"value": []},
  "shm": {"value": true}})";

}  // namespace

base::Result<Json> spawner_config(Facts& facts) {
  const auto map = get(facts, api::resources::kConfigMaps, std::string(kNamespace), std::string(kName));
  if (!map.ok()) {
    if (!is_missing(map.error(), facts)) return base::Error(map.error());
    return api::parse_json(kBuiltIn);
  }
  const auto config = api::parse_yaml((*map)["data"][kKey].as_string());
  if (!config.ok() || !(*config)["spawnerFormDefaults"].is_object())
    return base::make_error(base::Code::kInvalid,
                            base::format("{} of the ConfigMap {}/{} has no spawnerFormDefaults{}{}", kKey, kNamespace,
                                         kName, config.ok() ? "" : ": ", config.ok() ? "" : config.error().message));
  return Json((*config)["spawnerFormDefaults"]);
}

}  // namespace webapps
