// The report comes from a container of a stranger: whatever it says is checked.
//
// Its lines are "kfp 1", then "P INDEX BYTES" or "M BYTES" or "R BYTES", each with so many bytes and a newline behind
// it.
#include "controllers/pipelines/report.h"

#include "base/format.h"
#include "base/number.h"
#include "base/split.h"
#include "controllers/pipelines/executor_input.h"
#include "pipelines/ir/fields.h"
#include "pipelines/ir/values.h"

namespace controllers::pipelines {

using api::Json;

namespace {

constexpr std::string_view kBegin = "kfp 1\n";
constexpr std::size_t kArtifactsMax = 10'000;  // of one output

base::Error unreadable() {
  return base::make_error(base::Code::kInvalid, "the launcher's report is cut off, or was written by another program");
}

base::Error wrong(std::string_view kind, std::string_view name, std::string_view why) {
  return base::make_error(base::Code::kInvalid, base::format("outputs.{}.{}: {}", kind, name, why));
}

// The artifact that the command describes, on top of the one that it was given.
base::Result<Json> described(const std::string& name, const Json& given, const Json& output) {
  Json artifact = given;
  if (const std::string_view uri = output["uri"].as_string(); !uri.empty()) {
    if (const base::Status fits = check_uri(uri); !fits.ok()) return wrong("artifacts", name, fits.error().message);
    artifact.set("uri", uri);
  }
  if (output["name"].is_string() && !output["name"].as_string().empty()) artifact.set("name", output["name"]);
  for (const Json::Member& one : output["metadata"].members()) artifact.edit("metadata").set(one.name(), one.value);
  for (const char* key : {"custom_path", "customPath"})
    if (output[std::string_view(key)].is_string()) artifact.set("customPath", output[std::string_view(key)]);
  return artifact;
}

base::Status put_artifacts(const ::pipelines::Component& component, const Json& executor_input, const Json& output,
                           Values& values) {
  for (const auto& [name, spec] : component.output_artifacts) {
    const Json& given = executor_input["outputs"]["artifacts"][name]["artifacts"][std::size_t{0}];
    const Json& list = output["artifacts"][name]["artifacts"];
    if (list.size() > kArtifactsMax) return wrong("artifacts", name, "it has too many artifacts");
    Json made = Json::array();
    for (const Json& one : list.items()) {
      TRY(Json artifact, described(name, given, one));
      made.push_back(std::move(artifact));
    }
    if (made.empty()) made.push_back(given);
    values.artifacts.set(name, std::move(made));
  }
  return {};
}

}  // namespace

base::Result<Report> read_report(std::string_view text, std::size_t parameters) {
  Report report;
  report.parameters.resize(parameters);
  if (!text.starts_with(kBegin)) return unreadable();
  text.remove_prefix(kBegin.size());
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return unreadable();
    const std::vector<std::string_view> words = base::split_words(text.substr(0, end), ' ');
    text.remove_prefix(end + 1);
    const bool is_parameter = words.size() == 3 && words[0] == "P";
    const bool is_result = words.size() == 2 && words[0] == "R";
    if (!is_parameter && !is_result && !(words.size() == 2 && words[0] == "M")) return unreadable();
    const auto bytes = base::parse_number<std::size_t>(words.back());
    // A newline at the end of a message is not kept by every node.
    if (!bytes || *bytes > text.size()) return unreadable();
    std::string value(text.substr(0, *bytes));
    text.remove_prefix(*bytes);
    if (text.starts_with('\n')) text.remove_prefix(1);
    if (is_result) report.result = std::move(value);
    if (!is_parameter && !is_result) report.metadata = std::move(value);
    if (!is_parameter) continue;
    const auto index = base::parse_number<std::size_t>(words[1]);
    if (!index || *index >= parameters) return unreadable();
    report.parameters[*index] = std::move(value);
  }
  return report;
}

base::Result<Values> outputs_of(const Report& report, const ::pipelines::Component& component,
                                const Json& executor_input) {
  Json output = Json::object();
  if (!report.metadata.empty()) {
    auto parsed = api::parse_json(report.metadata);
    if (!parsed.ok() || !parsed->is_object())
      return base::make_error(base::Code::kInvalid, "output_metadata.json is not a JSON object");
    output = *std::move(parsed);
  }
  Values values;
  std::size_t index = 0;
  for (const auto& [name, spec] : component.output_parameters) {
    const std::size_t at = index++;
    const Json* value = output["parameterValues"].find(name);
    const bool in_file = at < report.parameters.size() && report.parameters[at];
    if (value == nullptr && !in_file) return wrong("parameters", name, "the command wrote no value");
    auto fitted = value != nullptr ? ::pipelines::fit(*value, spec.type)
                                   : ::pipelines::fit_text(*report.parameters[at], spec.type);
    if (!fitted.ok()) return wrong("parameters", name, fitted.error().message);
    values.parameters.set(name, *std::move(fitted));
  }
  TRY_VOID(put_artifacts(component, executor_input, output, values));
  return values;
}

}  // namespace controllers::pipelines
