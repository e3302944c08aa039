// Fields are taken from the form, or from the configuration where that fixes them.
#include "webapps/notebook_form.h"

#include <cmath>
#include <optional>

#include "api/schema/quantity.h"
#include "base/format.h"
#include "base/trim.h"
#include "webapps/objects.h"

namespace webapps {

using api::Json;
using api::Quantity;

namespace {

constexpr std::string_view kNone = "none";
constexpr std::size_t kVolumesMax = 100, kVariablesMax = 1000;

Json& pod_of(Json& notebook) { return notebook.edit("spec").edit("template").edit("spec"); }
Json& container_of(Json& notebook) { return pod_of(notebook).edit("containers").edit(0); }

// The value of a field: the form's, or the one that the configuration fixes; null where the configuration does not
// know the field, or it is `optional`, and the form lacks it.
base::Result<Json> value_of(const NotebookForm& form, std::string_view name, std::string_view configured = {},
                            bool optional = false) {
  const Json& given = form.body[name];
  const Json* known = form.config.find(configured.empty() ? name : configured);
  if (known == nullptr) return given;
  if ((*known)["readOnly"].as_bool()) {
    if (form.body.has(name))
      return bad_request(base::format("'{}' is readonly but a value was provided: {}", name, given.dump()));
    return (*known)["value"];
  }
  if (given.is_null() && !optional) return bad_request(base::format("No value provided for: {}", name));
  return given;
}

base::Status set_image(const NotebookForm& form, Json& container) {
  const Json& custom = form.body["customImage"];
  const bool is_custom = custom.is_string() && !custom.as_string().empty();
  TRY(const Json image, value_of(form, is_custom ? "customImage" : "image", "image"));
  const std::string text(base::trim(image.as_string()));
  if (text.empty()) return bad_request("No value provided for: image");
  container.set("image", text);
  TRY(const Json policy, value_of(form, "imagePullPolicy"));
  if (policy.is_string()) container.set("imagePullPolicy", policy);
  return {};
}

base::Status set_server_type(const NotebookForm& form, Json& annotations, const std::string& name) {
  TRY(const Json given, value_of(form, "serverType"));
  const std::string type(given.as_string().empty() ? "jupyter" : given.as_string());
  if (type != "jupyter" && type != "group-one" && type != "group-two")
    return bad_request(base::format("'{}' is not a valid server type", type));
  annotations.set("notebooks.kubeflow.org/server-type", type);
  if (type != "jupyter") annotations.set("notebooks.kubeflow.org/http-rewrite-uri", "/");
  if (type == "group-two")
    annotations.set("notebooks.kubeflow.org/http-headers-request-set",
                    base::format(R"({{"X-RStudio-Root-Path":"/notebook/{}/{}/"}})", form.ns, name));
  return {};
}

// The limit that a factor gives, in the unit of the request: "0.5" and 1.2 are "0.6", "500m" and 1.2 "600m".
std::string scaled(const std::string& text, const Quantity& amount, double factor) {
  std::size_t unit = text.find_first_not_of("0123456789.+-");
  if (unit == std::string::npos) unit = text.size();
  const auto plain = Quantity::parse(text.substr(0, unit));
  if (!plain || text.substr(unit).starts_with('e') || text.substr(unit).starts_with('E'))
    return Quantity::from_milli(static_cast<std::int64_t>(std::ceil(amount.as_double() * factor * 1000))).to_string();
  return base::format("{:.1f}{}", std::round(plain->as_double() * factor * 10) / 10, text.substr(unit));
}

// The configuration says a number for limits, "none", or nothing, which is 1.2.
base::Result<std::optional<double>> factor_of(const NotebookForm& form, std::string_view name) {
  const Json& given = form.config[name]["limitFactor"];
  if (given.is_null()) return std::optional(1.2);
  if (given.as_string() == kNone) return std::optional<double>();
  const auto number = Quantity::from_json(given);
  if (!number || number->sign() <= 0)
    return base::make_error(
        base::Code::kInvalid,
        base::format("{}.limitFactor of the form's configuration is {}, not a number or none", name, given.dump()));
  return std::optional(number->as_double());
}

base::Status set_amount(const NotebookForm& form, std::string_view name, std::string_view limit_name, Json& resources) {
  const bool has_gpu = form.body["gpus"].has("num") && form.body["gpus"]["num"].as_string() != kNone;
  if (form.config[name]["disableIfGPU"].as_bool() && has_gpu) return {};
  TRY(const Json request, value_of(form, name));
  TRY(const Json limit, value_of(form, limit_name));
  const auto amount = Quantity::from_json(request);
  if (!amount || amount->sign() < 0) return bad_request(base::format("Invalid value for {}: {}", name, request.dump()));
  const std::string text = request.is_string() ? request.str() : amount->to_string();
  resources.edit("requests").set(name, text);
  std::string most = limit.is_string() ? limit.str() : limit.is_number() ? limit.dump() : std::string();
  if (most.empty()) {
    TRY(const std::optional<double> factor, factor_of(form, name));
    if (!factor) return {};
    most = scaled(text, *amount, *factor);
  }
  const auto read = Quantity::parse(most);
  if (!read) return bad_request(base::format("Invalid value for {} limit: {:?}", name, most));
  if (*read < *amount)
    return bad_request(base::format("{} limit must be greater than the request", name == "cpu" ? "CPU" : "Memory"));
  resources.edit("limits").set(name, most);
  return {};
}

base::Status set_gpus(const NotebookForm& form, Json& resources) {
  TRY(const Json gpus, value_of(form, "gpus"));
  if (gpus.is_null()) return {};
  if (!gpus.has("num")) return bad_request("'gpus' must have a 'num' field");
  const Json& num = gpus["num"];
  if (num.as_string() == kNone) return {};
  if (!gpus["vendor"].is_string()) return bad_request("'gpus' must have a 'vendor' field");
  const auto count = Quantity::from_json(num);
  if (!count || count->sign() < 0) return bad_request(base::format("gpus.num is not a valid number: {}", num.dump()));
  resources.edit("limits").set(gpus["vendor"].as_string(), count->to_string());
  return {};
}

// The member of the option that the form chose by its key; null: there is none.
base::Result<Json> option_of(const NotebookForm& form, std::string_view name, std::string_view key,
                             std::string_view member) {
  TRY(const Json chosen, value_of(form, name));
  if (!chosen.is_string() || chosen.as_string() == kNone || chosen.as_string().empty()) return Json();
  for (const Json& option : form.config[name]["options"].items())
    if (option[key] == chosen) return option[member];
  return Json();
}

base::Status set_environment(const NotebookForm& form, Json& container) {
  TRY(const Json given, value_of(form, "environment", {}, true));
  if (given.is_null() || given.as_string("x").empty()) return {};
  Json variables = given;
  if (given.is_string()) {
    auto read = api::parse_json(given.as_string());
    if (!read.ok()) return bad_request("environment is not JSON: " + read.error().message);
    variables = *std::move(read);
  }
  if (!variables.is_object() || variables.size() > kVariablesMax)
    return bad_request(base::format("environment is not an object of up to {} variables", kVariablesMax));
  Json rows = Json::array();
  for (const auto& [name, value] : variables.members())
    rows.push_back(Json::object({{"name", name}, {"value", value.is_string() ? value.str() : value.dump()}}));
  container.set("env", std::move(rows));
  return {};
}

base::Status set_place(const NotebookForm& form, Json& pod) {
  TRY(Json tolerations, option_of(form, "tolerationGroup", "groupKey", "tolerations"));
  if (tolerations.is_array()) pod.set("tolerations", std::move(tolerations));
  TRY(Json affinity, option_of(form, "affinityConfig", "configKey", "affinity"));
  if (affinity.is_object()) pod.set("affinity", std::move(affinity));
  return {};
}

base::Status set_labels(const NotebookForm& form, Json& labels) {
  TRY(const Json given, value_of(form, "configurations"));
  if (!given.is_array() && !given.is_null())
    return bad_request(base::format("Labels for PodDefaults are not list: {}", given.dump()));
  for (const Json& label : given.items()) {
    if (!label.is_string())
      return bad_request(base::format("a label of configurations is not a text: {}", label.dump()));
    labels.set(label.as_string(), "true");
  }
  return {};
}

// "{notebook-name}" stands for the name, as in the configuration, which a form may send back as it is.
base::Result<FormVolume> volume_of(const Json& row, const std::string& name) {
  if (!row["mount"].is_string()) return bad_request(base::format("Volume should have a mount: {}", row.dump()));
  const bool is_new = row["newPvc"].is_object(), is_there = row["existingSource"].is_object();
  if (is_new == is_there)
    return bad_request(base::format("Volume has {} newPvc {} existingSource: {}", is_new ? "both" : "neither",
                                    is_new ? "and" : "nor", row.dump()));
  FormVolume volume{.path = row["mount"].str()};
  if (is_there) {
    if (const Json* claim = row["existingSource"].find("persistentVolumeClaim");
        claim != nullptr && (*claim)["claimName"].as_string().empty())
      return bad_request(base::format("Failed to retrieve the PVC name from '{}'", row.dump()));
    volume.source = row["existingSource"];
    return volume;
  }
  volume.new_claim = row["newPvc"];
  if (volume.new_claim["metadata"].has("namespace")) return bad_request("PVC should not specify the namespace.");
  volume.new_claim.set("apiVersion", "v1");
  volume.new_claim.set("kind", "PersistentVolumeClaim");
  constexpr std::string_view kStandIn = "{notebook-name}";
  std::string claim = volume.new_claim["metadata"]["name"].str();
  if (const std::size_t at = claim.find(kStandIn); at != std::string::npos)
    volume.new_claim.edit("metadata").set("name", claim.replace(at, kStandIn.size(), name));
  return volume;
}

base::Result<std::vector<FormVolume>> volumes_of(const NotebookForm& form, const std::string& name) {
  std::vector<FormVolume> volumes;
  TRY(const Json rows, value_of(form, "datavols", "dataVolumes"));
  if (!rows.is_array() && !rows.is_null()) return bad_request("datavols is not a list");
  if (rows.size() > kVolumesMax) return bad_request(base::format("datavols has more than {} volumes", kVolumesMax));
  for (const Json& row : rows.items()) {
    TRY(FormVolume volume, volume_of(row, name));
    volumes.push_back(std::move(volume));
  }
  TRY(const Json workspace, value_of(form, "workspace", "workspaceVolume", true));
  if (workspace.is_object()) {
    TRY(FormVolume volume, volume_of(workspace, name));
    volumes.push_back(std::move(volume));
  }
  return volumes;
}

Json blank_notebook(const NotebookForm& form, const std::string& name) {
  Json container = Json::object({{"name", name}});
  Json pod = Json::object({{"serviceAccountName", "default-editor"}, {"containers", Json::array({container})}});
  return Json::object(
      {{"apiVersion", "kubeflow.org/v1"},
       {"kind", "Notebook"},
       {"metadata", Json::object({{"name", name},
                                  {"namespace", form.ns},
                                  {"labels", Json::object({{"app", name}})},
                                  {"annotations", Json::object({{"notebooks.kubeflow.org/creator", form.user}})}})},
       {"spec", Json::object({{"template", Json::object({{"spec", std::move(pod)}})}})}});
}

}  // namespace

base::Result<WantedNotebook> wanted_notebook(const NotebookForm& form) {
  if (!form.body["name"].is_string()) return bad_request("name is missing in the body");
  const std::string name = form.body["name"].str();
  WantedNotebook wanted{.notebook = blank_notebook(form, name), .volumes = {}};
  Json& metadata = wanted.notebook.edit("metadata");
  TRY_VOID(set_server_type(form, metadata.edit("annotations"), name));
  TRY_VOID(set_labels(form, metadata.edit("labels")));
  Json& container = container_of(wanted.notebook);
  TRY_VOID(set_image(form, container));
  Json resources = Json::object();
  TRY_VOID(set_amount(form, "cpu", "cpuLimit", resources));
  TRY_VOID(set_amount(form, "memory", "memoryLimit", resources));
  TRY_VOID(set_gpus(form, resources));
  container.set("resources", std::move(resources));
  TRY_VOID(set_environment(form, container));
  TRY_VOID(set_place(form, pod_of(wanted.notebook)));
  TRY(const Json shared, value_of(form, "shm"));
  if (shared.as_bool())
    add_volume(wanted.notebook,
               {.path = "/dev/shm", .source = Json::object({{"emptyDir", Json::object({{"medium", "Memory"}})}})}, {});
  TRY(wanted.volumes, volumes_of(form, name));
  return wanted;
}

void add_volume(Json& notebook, const FormVolume& volume, const std::string& claim) {
  Json& pod = pod_of(notebook);
  Json row =
      claim.empty() ? volume.source : Json::object({{"persistentVolumeClaim", Json::object({{"claimName", claim}})}});
  std::string name;
  if (row["emptyDir"]["medium"].as_string() == "Memory" && volume.path == "/dev/shm") {
    name = "dshm";
  } else if (row.has("persistentVolumeClaim")) {
    name = row["persistentVolumeClaim"]["claimName"].str();
  } else {
    name = base::format("existing-source-volume-{}", pod["volumes"].size());
  }
  bool is_there = false;
  for (const Json& other : pod["volumes"].items()) is_there = is_there || other["name"].as_string() == name;
  if (!is_there) {
    row.set("name", name);
    pod.edit("volumes").push_back(std::move(row));
  }
  container_of(notebook).edit("volumeMounts").push_back(Json::object({{"name", name}, {"mountPath", volume.path}}));
}

}  // namespace webapps
