// The values that the end of a node gives to those after it.
#include "pipelines/argo/results.h"

#include "base/format.h"

namespace pipelines::argo {

using api::Json;

std::vector<const Node*> turns_of_group(const Nodes& nodes, const Node& group) {
  std::vector<const Node*> out;
  for (const std::string& id : group.children) {
    const auto found = nodes.find(id);
    if (found != nodes.end() && found->second.name.starts_with(group.name + "(")) out.push_back(&found->second);
  }
  return out;
}

namespace {

// The values of that parameter; without a name, an object of all parameters for each turn.
std::string results_of_turns(const Nodes& nodes, const Node& group, std::string_view parameter) {
  Json all = Json::array();
  for (const Node* turn : turns_of_group(nodes, group)) {
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

}  // namespace

void record_results(const Nodes& nodes, const Node& node, const std::string& prefix, Variables& variables) {
  variables.set(prefix + ".id", node.id);
  variables.set(prefix + ".status", std::string(text_of(node.phase)));
  if (node.started.is_set()) variables.set(prefix + ".startedAt", base::format_rfc3339(node.started));
  if (node.finished.is_set()) variables.set(prefix + ".finishedAt", base::format_rfc3339(node.finished));
  if (node.message == kEmptyLoop) {
    variables.set(prefix + ".outputs.parameters", "[]");
    variables.set(prefix + ".outputs.result", "[]");
    return;
  }
  if (node.type == "TaskGroup") {
    variables.set(prefix + ".outputs.parameters", results_of_turns(nodes, node, {}));
    const std::vector<const Node*> all = turns_of_group(nodes, node);
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
                    results_of_turns(nodes, node, one["name"].as_string()));
    return;
  }
  if (node.outputs["result"].is_string()) variables.set(prefix + ".outputs.result", node.outputs["result"].str());
  if (node.outputs["exitCode"].is_string()) variables.set(prefix + ".exitCode", node.outputs["exitCode"].str());
  for (const Json& one : node.outputs["parameters"].items())
    variables.set(base::format("{}.outputs.parameters.{}", prefix, one["name"].as_string()), text_of(one["value"]));
  for (const Json& one : node.outputs["artifacts"].items())
    variables.set(base::format("{}.outputs.artifacts.{}", prefix, one["name"].as_string()), one.dump());
}

std::string failures_text(const Nodes& nodes) {
  Json all = Json::array();
  for (const auto& [id, node] : nodes) {
    if (!has_failed(node.phase)) continue;
    all.push_back(Json::object({{"displayName", node.display},
                                {"message", node.message},
                                {"templateName", node.template_name},
                                {"phase", text_of(node.phase)},
                                {"podName", node.type == "Pod" ? node.id : ""},
                                {"finishedAt", base::format_rfc3339(node.finished)}}));
  }
  return Json(all.dump()).dump();
}

}  // namespace pipelines::argo
