// Nodes as JSON, and their ids.
#include "pipelines/argo/workflow_node.h"

#include <utility>

#include "base/format.h"

namespace pipelines::argo {

using api::Json;

namespace {

constexpr std::pair<Phase, std::string_view> kPhases[] = {
    {Phase::kPending, "Pending"}, {Phase::kRunning, "Running"}, {Phase::kSucceeded, "Succeeded"},
    {Phase::kSkipped, "Skipped"}, {Phase::kFailed, "Failed"},   {Phase::kError, "Error"},
    {Phase::kOmitted, "Omitted"}};

void put(Json& object, std::string_view key, const std::string& text) {
  if (!text.empty()) object.set(key, text);
}

}  // namespace

std::string_view text_of(Phase phase) {
  for (const auto& [known, text] : kPhases)
    if (known == phase) return text;
  return {};
}

std::optional<Phase> phase_of(std::string_view text) {
  for (const auto& [phase, known] : kPhases)
    if (known == text) return phase;
  return std::nullopt;
}

Json to_json(const Node& node) {
  Json out = Json::object({{"id", node.id}, {"name", node.name}, {"displayName", node.display}, {"type", node.type}});
  put(out, "templateName", node.template_name);
  put(out, "boundaryID", node.boundary);
  out.set("phase", text_of(node.phase));
  put(out, "message", node.message);
  if (node.started.is_set()) out.set("startedAt", base::format_rfc3339(node.started));
  if (node.finished.is_set()) out.set("finishedAt", base::format_rfc3339(node.finished));
  if (!node.inputs.is_null()) out.set("inputs", node.inputs);
  if (!node.outputs.is_null()) out.set("outputs", node.outputs);
  if (node.children.empty()) return out;
  std::vector<Json> children(node.children.begin(), node.children.end());
  out.set("children", Json::array(std::move(children)));
  return out;
}

std::optional<Node> node_of(const Json& object) {
  const auto phase = phase_of(object["phase"].as_string());
  Node out{.id = object["id"].str(),
           .name = object["name"].str(),
           .display = object["displayName"].str(),
           .type = object["type"].str(),
           .template_name = object["templateName"].str(),
           .boundary = object["boundaryID"].str(),
           .phase = phase.value_or(Phase::kPending),
           .message = object["message"].str(),
           .started = {},
           .finished = {},
           .inputs = object["inputs"],
           .outputs = object["outputs"],
           .children = {}};
  if (!phase || out.id.empty() || out.name.empty() || out.type.empty()) return std::nullopt;
  if (const auto time = base::parse_rfc3339(object["startedAt"].as_string())) out.started = *time;
  if (const auto time = base::parse_rfc3339(object["finishedAt"].as_string())) out.finished = *time;
  for (const Json& child : object["children"].items()) out.children.push_back(child.str());
  return out;
}

std::string node_id(std::string_view workflow, std::string_view name) {
  if (name == workflow) return std::string(workflow);
  std::uint32_t hash = 2166136261u;  // FNV-1a of 32 bits, as Argo has it
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return base::format("{}-{}", workflow, hash);
}

}  // namespace pipelines::argo
