// Values that templates are given and give: parameters, artifacts, loops.
#include <algorithm>
#include <utility>

#include "api/meta/resource.h"
#include "base/format.h"
#include "base/number.h"
#include "pipelines/argo/operation.h"

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
  Json items = Json::array();
  if (count == 0) return items;
  const std::int64_t step = start <= end ? 1 : -1;
  for (std::int64_t at = start;; at += step) {
    if (items.size() >= kItemsMax) return wrong(base::format("withSequence has more than {} items", kItemsMax));
    items.push_back(base::format("{}", at));
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

void Operation::set_globals(const Json& spec) {
  const Json& metadata = look_.workflow["metadata"];
  globals_.set("workflow.name", workflow_);
  globals_.set("workflow.namespace", ns_);
  globals_.set("workflow.uid", metadata["uid"].str());
  globals_.set("workflow.serviceAccountName", account_of(look_.workflow, Json()));
  globals_.set("workflow.creationTimestamp", metadata["creationTimestamp"].str());
  globals_.set("workflow.status", "Running");
  globals_.set("workflow.failures", "[]");
  for (const std::string_view map : {"labels", "annotations"})
    for (const Json::Member& one : metadata[map].members())
      globals_.set(base::format("workflow.{}.{}", map, one.name()), one.value.str());
  for (const Json& one : spec["arguments"]["parameters"].items())
    globals_.set(base::format("workflow.parameters.{}", one["name"].as_string()), text_of(one["value"]));
  globals_.set("workflow.parameters",
               spec["arguments"]["parameters"].is_array() ? spec["arguments"]["parameters"].dump() : "[]");
}

base::Result<Operation::Inputs> Operation::inputs_of(const Call& call, const Json& spec) const {
  Inputs out{globals_, {}};
  Json parameters = Json::array(), artifacts = Json::array();
  for (const Json& one : spec["inputs"]["parameters"].items()) {
    const std::string name = one["name"].str();
    const Json* given = named(call.arguments["parameters"], name);
    const Json* value = given != nullptr && given->has("value") ? given->find("value") : nullptr;
    if (value == nullptr) value = one.find("value");
    if (value == nullptr) value = one.find("default");
    if (value == nullptr) return wrong(base::format("inputs.parameters.{} was not supplied", name));
    const std::string text = text_of(*value);
    out.variables.set("inputs.parameters." + name, text);
    parameters.push_back(Json::object({{"name", name}, {"value", text}}));
  }
  for (const Json& one : spec["inputs"]["artifacts"].items()) {
    const std::string name = one["name"].str();
    const Json* given = named(call.arguments["artifacts"], name);
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

base::Result<std::vector<Operation::Turn>> Operation::turns_of(const Json& spec, const Variables& variables) const {
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
  std::vector<Turn> turns;
  for (const Json& item : items.items()) {
    Turn& turn = turns.emplace_back();
    turn.suffix = base::format("({}:{})", turns.size() - 1, short_of(item));
    turn.variables.set("item", text_of(item));
    for (const Json::Member& member : item.members())
      turn.variables.set(base::format("item.{}", member.name()), text_of(member.value));
  }
  return turns;
}

base::Result<Json> Operation::arguments_of(const Json& spec, const Variables& variables) const {
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

base::Result<Json> Operation::outputs_of(const Json& spec, const Variables& variables) const {
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

void Operation::note_results(const Node& node, const std::string& prefix, Variables& variables) const {
  variables.set(prefix + ".id", node.id);
  variables.set(prefix + ".status", std::string(text_of(node.phase)));
  if (node.started.is_set()) variables.set(prefix + ".startedAt", base::format_rfc3339(node.started));
  if (node.finished.is_set()) variables.set(prefix + ".finishedAt", base::format_rfc3339(node.finished));
  if (node.type == "TaskGroup") {
    variables.set(prefix + ".outputs.parameters", results_of_turns(node, {}));
    const std::vector<const Node*> all = turns(node);
    Json printed = Json::array();
    for (const Node* turn : all) {
      const Json& result = turn->outputs["result"];
      if (turn->phase != Phase::kSucceeded || !result.is_string()) continue;
      auto value = api::parse_json(result.as_string());
      printed.push_back(value.ok() ? *std::move(value) : result);
    }
    variables.set(prefix + ".outputs.result", printed.dump());
    if (all.empty()) return;
    for (const Json& one : all.front()->outputs["parameters"].items())
      variables.set(base::format("{}.outputs.parameters.{}", prefix, one["name"].as_string()),
                    results_of_turns(node, one["name"].as_string()));
    return;
  }
  if (node.outputs["result"].is_string()) variables.set(prefix + ".outputs.result", node.outputs["result"].str());
  if (node.outputs["exitCode"].is_string()) variables.set(prefix + ".exitCode", node.outputs["exitCode"].str());
  for (const Json& one : node.outputs["parameters"].items())
    variables.set(base::format("{}.outputs.parameters.{}", prefix, one["name"].as_string()), text_of(one["value"]));
  for (const Json& one : node.outputs["artifacts"].items())
    variables.set(base::format("{}.outputs.artifacts.{}", prefix, one["name"].as_string()), one.dump());
}

std::vector<const Node*> Operation::turns(const Node& group) const {
  std::vector<const Node*> out;
  for (const std::string& id : group.children) {
    const auto found = out_.nodes.find(id);
    if (found != out_.nodes.end() && found->second.name.starts_with(group.name + "(")) out.push_back(&found->second);
  }
  return out;
}

// The values of that parameter; without a name, an object of all parameters for each turn.
std::string Operation::results_of_turns(const Node& group, std::string_view parameter) const {
  Json all = Json::array();
  for (const Node* turn : turns(group)) {
    if (turn->phase != Phase::kSucceeded) continue;
    const Json& outputs = turn->outputs;
    Json values = Json::object();
    for (const Json& one : outputs["parameters"].items()) {
      if (one["name"].as_string() == parameter) all.push_back(one["value"]);
      values.set(one["name"].as_string(), one["value"]);
    }
    if (parameter.empty()) all.push_back(std::move(values));
  }
  return all.dump();
}

}  // namespace pipelines::argo
