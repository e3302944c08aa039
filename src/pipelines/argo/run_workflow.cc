// Names are annotations: they are any text, and labels are not.
#include "pipelines/argo/run_workflow.h"

#include <array>

#include "api/argo/v1alpha1/workflow.h"
#include "api/schema/field_errors.h"
#include "base/format.h"
#include "pipelines/argo/workflow_check.h"

namespace pipelines::argo {

using api::Json;
using base::Code;
using base::make_error;

namespace {

constexpr std::array<std::pair<std::string_view, std::string RunTexts::*>, 8> kTexts = {
    {{"name", &RunTexts::name},
     {"description", &RunTexts::description},
     {"experiment", &RunTexts::experiment},
     {"pipeline", &RunTexts::pipeline},
     {"version", &RunTexts::version},
     {"recurring_run", &RunTexts::recurring_run},
     {"scheduled_at", &RunTexts::scheduled_at},
     {"storage_state", &RunTexts::storage_state}}};

std::string annotation(std::string_view text) { return std::string(kRunPrefix) + std::string(text); }

const Json& parameters_in(const Json& document) { return document["spec"]["arguments"]["parameters"]; }

bool has_value(const Json& parameter) {
  return parameter.has("value") || parameter.has("default") || parameter["valueFrom"].has("default");
}

}  // namespace

bool is_workflow(const Json& document) { return document["kind"].as_string() == "Workflow"; }

base::Status check_document(const Json& document) {
  const std::string_view version = document["apiVersion"].as_string();
  if (version != api::resources::kWorkflows.api_version())
    return make_error(Code::kInvalid, base::format("apiVersion: {:?} is not that of a Workflow, which is {}", version,
                                                   api::resources::kWorkflows.api_version()));
  api::FieldErrors errors;
  check_workflow(document["spec"], errors);
  if (!errors.empty()) return make_error(Code::kInvalid, "the Workflow cannot be run here: " + errors.take_texts()[0]);
  return {};
}

base::Status check_arguments(const Json& document, const Json& parameters) {
  const Json& known = parameters_in(document);
  for (const Json::Member& one : parameters.members()) {
    bool is_known = false;
    for (const Json& parameter : known.items()) is_known = is_known || parameter["name"].as_string() == one.name();
    if (!is_known)
      return make_error(Code::kInvalid, base::format("parameters: the pipeline has no parameter {:?}", one.name()));
    if (!one.value.is_string())
      return make_error(Code::kInvalid, base::format("parameters.{}: the value is not a text", one.name()));
  }
  for (const Json& parameter : known.items())
    if (!has_value(parameter) && !parameters.has(parameter["name"].as_string()))
      return make_error(Code::kInvalid,
                        base::format("parameters: the pipeline needs a value for {}", parameter["name"].as_string()));
  return {};
}

Json run_workflow(const Json& document, const RunTexts& texts, const Json& parameters) {
  Json metadata = Json::object();
  for (const std::string_view part : {"labels", "annotations"})
    if (document["metadata"][part].is_object()) metadata.set(part, document["metadata"][part]);
  Json& annotations = metadata.edit("annotations");
  if (!annotations.is_object()) annotations = Json::object();
  for (const auto& [name, text] : kTexts) {
    annotations.erase(annotation(name));
    if (!(texts.*text).empty()) annotations.set(annotation(name), texts.*text);
  }
  Json spec = document["spec"];
  if (!parameters.empty()) {
    Json filled = Json::array();
    for (Json parameter : parameters_in(document).items()) {
      if (const Json* value = parameters.find(parameter["name"].as_string())) {
        parameter.erase("valueFrom");
        parameter.set("value", *value);
      }
      filled.push_back(std::move(parameter));
    }
    spec.edit("arguments").set("parameters", std::move(filled));
  }
  return Json::object({{"apiVersion", api::resources::kWorkflows.api_version()},
                       {"kind", "Workflow"},
                       {"metadata", std::move(metadata)},
                       {"spec", std::move(spec)}});
}

RunTexts run_texts(const Json& workflow) {
  RunTexts texts;
  const Json& annotations = workflow["metadata"]["annotations"];
  for (const auto& [name, text] : kTexts) texts.*text = annotations[annotation(name)].str();
  if (texts.name.empty()) texts.name = api::name_of(workflow);
  if (texts.experiment.empty()) texts.experiment = "default";
  if (texts.storage_state.empty()) texts.storage_state = "AVAILABLE";
  return texts;
}

Json stored_as(std::string_view storage_state) {
  const std::string name = annotation("storage_state");
  return Json::object({{"metadata", Json::object({{"annotations", Json::object({{name, storage_state}})}})}});
}

}  // namespace pipelines::argo
