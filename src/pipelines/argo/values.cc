// Values that templates are given and give: parameters, artifacts, loops.
#include "pipelines/argo/values.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "base/number.h"
#include "pipelines/argo/number_form.h"
#include "pipelines/argo/workflow_engine.h"

namespace pipelines::argo {

using api::Json;
using base::Code;

namespace {

const Json* named(const Json& list, std::string_view name) {
  for (const Json& one : list.items())
    if (one["name"].as_string() == name) return &one;
  return nullptr;
}

base::Error wrong(std::string why) { return base::make_error(Code::kInvalid, std::move(why)); }

// The turns of withSequence: numbers as texts.
base::Result<Json> sequence(const Json& spec, const Variables& variables) {
  TRY(const Json filled, fill_all(spec, variables));
  const auto number = [&](std::string_view field, std::int64_t fallback) -> base::Result<std::int64_t> {
    const Json& value = filled[field];
    if (value.is_null()) return fallback;
    const auto parsed = base::parse_number<std::int64_t>(text_of(value));
    if (!parsed) return wrong(base::format("withSequence.{}: {:?} is not a whole number", field, text_of(value)));
    return *parsed;
  };
  TRY(const std::int64_t start, number("start", 0));
  TRY(const std::int64_t count, number("count", -1));
  std::int64_t end = 0;
  if (count >= 0) {
    if (count > static_cast<std::int64_t>(kItemsMax))
      return wrong(base::format("withSequence.count is above {}", kItemsMax));
    end = start + count - 1;
  } else {
    TRY(end, number("end", 0));
  }
  const std::string form = filled["format"].str();
  if (!is_number_form(form)) return wrong(base::format("withSequence.format: {:?} is not one {}", form, kNumberForms));
  Json items = Json::array();
  if (count == 0) return items;
  const std::int64_t step = start <= end ? 1 : -1;
  for (std::int64_t at = start;; at += step) {
    if (items.size() >= kItemsMax) return wrong(base::format("withSequence has more than {} items", kItemsMax));
    items.push_back(form.empty() ? base::format("{}", at) : number_in_form(form, at));
    if (at == end) return items;
  }
}

std::string short_of(const Json& item) {
  if (!item.is_object()) return text_of(item).substr(0, 100);
  std::string out;
  for (const Json::Member& member : item.members())
    out += base::format("{}{}:{}", out.empty() ? "" : ",", member.name(), text_of(member.value));
  return out.substr(0, 100);
}

}  // namespace

base::Result<Inputs> inputs_of(const Variables& globals, const Json& given_arguments, const Json& spec) {
  Inputs out{globals, {}};
  Json parameters = Json::array(), artifacts = Json::array();
  for (const Json& one : spec["inputs"]["parameters"].items()) {
    const std::string name = one["name"].str();
    const Json* given = named(given_arguments["parameters"], name);
    const Json* value = given != nullptr && given->has("value") ? given->find("value") : nullptr;
    if (value == nullptr) value = one.find("value");
    if (value == nullptr) value = one.find("default");
    if (value == nullptr) return wrong(base::format("inputs.parameters.{} was not supplied", name));
    std::string text = text_of(*value);
    // Arguments are filled in already; those of the template itself may ask for what all templates know.
    if (given == nullptr || value != given->find("value")) {
      auto filled = fill(text, globals);
      if (!filled.ok()) return wrong(base::format("inputs.parameters.{}: {}", name, filled.error().message));
      text = *std::move(filled);
    }
    out.variables.set("inputs.parameters." + name, text);
    parameters.push_back(Json::object({{"name", name}, {"value", text}}));
  }
  for (const Json& one : spec["inputs"]["artifacts"].items()) {
    const std::string name = one["name"].str();
    const Json* given = named(given_arguments["artifacts"], name);
    Json artifact = given != nullptr ? *given : one;
    if (given == nullptr && !one.has("raw") && !one.has("s3")) {
      if (one["optional"].as_bool()) continue;
      return wrong(base::format("inputs.artifacts.{} was not supplied", name));
    }
    if (given == nullptr && one.has("raw")) {
      TRY(artifact, fill_all(one, out.variables));
    }
    artifact.set("name", name);
    if (one.has("path")) artifact.set("path", one["path"]);
    out.variables.set("inputs.artifacts." + name, artifact.dump());
    out.variables.set(base::format("inputs.artifacts.{}.path", name), one["path"].str());
    artifacts.push_back(std::move(artifact));
  }
  out.variables.set("inputs.parameters", parameters.dump());
  for (const std::string_view list : {"artifacts", "parameters"})
    for (const Json& one : spec["outputs"][list].items()) {
      const Json& path = list == "artifacts" ? one["path"] : one["valueFrom"]["path"];
      if (path.is_string())
        out.variables.set(base::format("outputs.{}.{}.path", list, one["name"].as_string()), path.str());
    }
  out.values = Json::object();
  if (!parameters.empty()) out.values.set("parameters", std::move(parameters));
  if (!artifacts.empty()) out.values.set("artifacts", std::move(artifacts));
  if (out.values.empty()) out.values = Json();
  return out;
}

base::Result<std::vector<LoopTurn>> turns_of(const Json& spec, const Variables& variables) {
  Json items;
  if (spec.has("withItems")) {
    TRY(items, fill_all(spec["withItems"], variables));
  } else if (spec.has("withParam")) {
    TRY(const std::string text, fill(spec["withParam"].as_string(), variables));
    auto parsed = api::parse_json(text);
    if (!parsed.ok() || !parsed->is_array())
      return wrong(base::format("withParam: {:?} is not a list in JSON", text.substr(0, 60)));
    items = *std::move(parsed);
  } else {
    TRY(items, sequence(spec["withSequence"], variables));
  }
  if (items.size() > kItemsMax)
    return wrong(base::format("a loop of {} items has more than {}", items.size(), kItemsMax));
  std::vector<LoopTurn> turns;
  for (const Json& item : items.items()) {
    LoopTurn& turn = turns.emplace_back();
    turn.suffix = base::format("({}:{})", turns.size() - 1, short_of(item));
    turn.variables.set("item", text_of(item));
    for (const Json::Member& member : item.members())
      turn.variables.set(base::format("item.{}", member.name()), text_of(member.value));
  }
  return turns;
}

base::Result<Json> arguments_of(const Json& spec, const Variables& variables) {
  Json out = Json::object();
  TRY(Json parameters, fill_all(spec["arguments"]["parameters"], variables));
  if (parameters.is_array()) out.set("parameters", std::move(parameters));
  if (!spec["arguments"]["artifacts"].is_array()) return out;
  Json artifacts = Json::array();
  for (const Json& one : spec["arguments"]["artifacts"].items()) {
    TRY(Json filled, fill_all(one, variables));
    if (const Json* from = filled.find("from"); from != nullptr) {
      auto artifact = api::parse_json(from->as_string());
      if (!artifact.ok() || !artifact->is_object())
        return wrong(base::format("arguments.artifacts.{}: {:?} names no artifact", one["name"].as_string(),
                                  one["from"].as_string()));
      const std::string name = filled["name"].str();
      filled = *std::move(artifact);
      filled.set("name", name);
      filled.erase("path");
    }
    artifacts.push_back(std::move(filled));
  }
  out.set("artifacts", std::move(artifacts));
  return out;
}

base::Result<Json> outputs_of(const Json& spec, const Variables& variables) {
  Json parameters = Json::array(), artifacts = Json::array();
  for (const Json& one : spec["outputs"]["parameters"].items()) {
    const std::string name = one["name"].str();
    const Json& from = one["valueFrom"];
    auto value =
        from.has("parameter") ? fill(from["parameter"].as_string(), variables) : fill(text_of(one["value"]), variables);
    if (!value.ok() && from.has("default")) value = text_of(from["default"]);
    if (!value.ok()) return wrong(base::format("outputs.parameters.{}: {}", name, value.error().message));
    parameters.push_back(Json::object({{"name", name}, {"value", *value}}));
  }
  for (const Json& one : spec["outputs"]["artifacts"].items()) {
    const auto text = fill(one["from"].as_string(), variables);
    auto artifact = text.ok() ? api::parse_json(*text) : base::Result<Json>(base::Error(text.error()));
    if (!artifact.ok() && one["optional"].as_bool()) continue;
    if (!artifact.ok())
      return wrong(base::format("outputs.artifacts.{}: {}", one["name"].as_string(), artifact.error().message));
    artifact->set("name", one["name"]);
    artifacts.push_back(*std::move(artifact));
  }
  Json out = Json::object();
  if (!parameters.empty()) out.set("parameters", std::move(parameters));
  if (!artifacts.empty()) out.set("artifacts", std::move(artifacts));
  return out.empty() ? Json() : out;
}

}  // namespace pipelines::argo
