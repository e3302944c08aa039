// The SDK derives paths from URIs, so both sides follow the same rule.
#include "controllers/pipelines/executor_input.h"

#include <array>
#include <utility>

#include "base/format.h"

namespace controllers::pipelines {

using api::Json;

namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kPlaces = {
    {{"gs://", "/gcs/"}, {"minio://", "/minio/"}, {"s3://", "/s3/"}}};

bool leads_up(std::string_view path) {
  while (true) {
    const std::size_t end = path.find('/');
    if (path.substr(0, end) == "..") return true;
    if (end == std::string_view::npos) return false;
    path.remove_prefix(end + 1);
  }
}

// The SDK takes the folder of this file for the folder of the step's artifacts (dsl.get_uri).
std::string metadata_file(const ::pipelines::Component& component, const std::string& folder) {
  if (component.output_artifacts.empty()) return kMetadataFile;
  return base::format("{}/output_metadata.json", local_path(Json::object({{"uri", folder}})));
}

}  // namespace

Values Values::of(const Json& status_values) {
  Values values;
  if (status_values["parameters"].is_object()) values.parameters = status_values["parameters"];
  if (status_values["artifacts"].is_object()) values.artifacts = status_values["artifacts"];
  return values;
}

Json Values::json() const {
  Json out;
  if (!parameters.empty()) out.set("parameters", parameters);
  if (!artifacts.empty()) out.set("artifacts", artifacts);
  return out;
}

std::string local_path(const Json& artifact) {
  for (const char* key : {"customPath", "custom_path"})
    if (!artifact[std::string_view(key)].as_string().empty()) return artifact[std::string_view(key)].str();
  const std::string_view uri = artifact["uri"].as_string();
  for (const auto& [scheme, folder] : kPlaces)
    if (uri.starts_with(scheme)) return base::format("{}{}", folder, uri.substr(scheme.size()));
  return std::string(uri);
}

base::Status check_uri(std::string_view uri) {
  const std::size_t scheme = uri.find("://");
  if (scheme == std::string_view::npos || scheme == 0)
    return base::make_error(base::Code::kInvalid, base::format("{} is not a URI", Json(uri).dump()));
  if (leads_up(uri.substr(scheme + 3)))
    return base::make_error(base::Code::kInvalid, base::format("{} leads out of the store", Json(uri).dump()));
  return {};
}

Json executor_input(const ::pipelines::Component& component, const Values& inputs, const std::string& folder) {
  Json input_artifacts = Json::object(), output_artifacts = Json::object(), output_parameters = Json::object();
  for (const Json::Member& one : inputs.artifacts.members())
    input_artifacts.set(one.name(), Json::object({{"artifacts", one.value}}));
  for (const auto& [name, spec] : component.output_artifacts) {
    Json artifact = Json::object({{"name", name},
                                  {"type", spec.type},
                                  {"uri", base::format("{}/{}", folder, name)},
                                  {"metadata", spec.metadata.is_object() ? spec.metadata : Json::object()}});
    output_artifacts.set(name, Json::object({{"artifacts", Json::array({std::move(artifact)})}}));
  }
  for (const auto& [name, spec] : component.output_parameters)
    output_parameters.set(name, Json::object({{"outputFile", base::format("{}/{}", kParametersFolder, name)}}));
  Json in = Json::object({{"parameterValues", inputs.parameters}, {"artifacts", std::move(input_artifacts)}});
  Json out = Json::object({{"parameters", std::move(output_parameters)},
                           {"artifacts", std::move(output_artifacts)},
                           {"outputFile", metadata_file(component, folder)}});
  return Json::object({{"inputs", std::move(in)}, {"outputs", std::move(out)}});
}

}  // namespace controllers::pipelines
