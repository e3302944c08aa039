// The artifact is known by its URI; its content stays where it is.
#include "base/format.h"
#include "controllers/pipelines/executor_input.h"
#include "controllers/pipelines/leaf_kinds.h"
#include "controllers/pipelines/placeholders.h"

namespace controllers::pipelines {

using api::Json;

namespace {

Json with_inputs(const Json& value, const Values& inputs) {
  if (value.is_string())
    return Json(replaced(value.as_string(),
                         [&](std::string_view expression) { return meaning_of_input(expression, inputs.parameters); }));
  if (value.is_object()) {
    Json out = Json::object();
    for (const Json::Member& one : value.members()) out.set(one.name(), with_inputs(one.value, inputs));
    return out;
  }
  if (value.is_array()) {
    Json out = Json::array();
    for (const Json& one : value.items()) out.push_back(with_inputs(one, inputs));
    return out;
  }
  return value;
}

// A path of the step's own file system is not an artifact that others can have.
base::Status check_store(std::string_view uri) {
  static constexpr std::array<std::string_view, 7> kStores = {"minio://", "s3://",    "gs://",         "oci://",
                                                              "http://",  "https://", "huggingface://"};
  TRY_VOID(check_uri(uri));
  for (const std::string_view store : kStores)
    if (uri.starts_with(store)) return {};
  return base::make_error(
      base::Code::kInvalid,
      base::format("{} is not in a store: its scheme is none of gs, http, https, huggingface, minio, "
                   "oci and s3",
                   Json(uri).dump()));
}

}  // namespace

Change imported(const ::pipelines::Component& component, const ::pipelines::Executor& executor, const Values& inputs) {
  const Json& from = executor.importer["artifactUri"];
  const std::string_view input = from["runtimeParameter"].as_string();
  const Json uri = input.empty() ? with_inputs(from["constant"], inputs) : inputs.parameters[input];
  if (const base::Status fits = check_store(uri.as_string()); !fits.ok())
    return {
        .state = "FAILED", .error = base::format("importer.artifactUri: {}", fits.error().message), .inputs = inputs};
  Values outputs;
  for (const auto& [name, spec] : component.output_artifacts) {
    const Json& metadata = executor.importer["metadata"];
    Json artifact = Json::object({{"name", name},
                                  {"type", spec.type},
                                  {"uri", uri},
                                  {"metadata", metadata.is_object() ? with_inputs(metadata, inputs) : Json::object()}});
    outputs.artifacts.set(name, Json::array({std::move(artifact)}));
  }
  return {.state = "SUCCEEDED", .inputs = inputs, .outputs = outputs};
}

}  // namespace controllers::pipelines
