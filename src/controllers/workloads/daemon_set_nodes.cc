// Selectors, affinity and taints of nodes.
#include "controllers/workloads/daemon_set_nodes.h"

#include <algorithm>
#include <optional>

#include "api/meta/resource.h"
#include "api/pods/tolerations.h"
#include "api/selector.h"

namespace controllers::workloads {

using api::Json;

namespace {

constexpr std::string_view kNameField = "metadata.name";

std::optional<api::Requirement::Operator> operator_of(std::string_view word) {
  using Operator = api::Requirement::Operator;
  static constexpr std::pair<std::string_view, Operator> kWords[] = {
      {"In", Operator::kIn},          {"NotIn", Operator::kNotIn},
      {"Exists", Operator::kExists},  {"DoesNotExist", Operator::kDoesNotExist},
      {"Gt", Operator::kGreaterThan}, {"Lt", Operator::kLessThan}};
  for (const auto& [known, op] : kWords)
    if (known == word) return op;
  return std::nullopt;
}

// `value` is null where the node has no such label or field. An expression that cannot be read matches nothing.
bool holds(const Json& expression, const std::string_view* value) {
  const auto op = operator_of(expression["operator"].as_string());
  if (!op) return false;
  api::Requirement requirement{expression["key"].str(), *op};
  for (const Json& one : expression["values"].items()) requirement.values.push_back(one.str());
  std::ranges::sort(requirement.values);
  return requirement.matches(value);
}

bool term_matches(const Json& term, const Json& node) {
  if (term["matchExpressions"].empty() && term["matchFields"].empty()) return false;
  for (const Json& expression : term["matchExpressions"].items()) {
    const Json* label = node["metadata"]["labels"].find(expression["key"].as_string());
    const std::string_view value = label ? label->as_string() : std::string_view();
    if (!holds(expression, label ? &value : nullptr)) return false;
  }
  for (const Json& expression : term["matchFields"].items()) {
    const std::string_view name = api::name_of(node);
    if (!holds(expression, expression["key"].as_string() == kNameField ? &name : nullptr)) return false;
  }
  return true;
}

const Json& required_affinity(const Json& spec) {
  return spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"];
}

bool affinity_fits(const Json& spec, const Json& node) {
  for (const Json::Member& wanted : spec["nodeSelector"].members())
    if (const Json* label = node["metadata"]["labels"].find(wanted.name()); !label || !(*label == wanted.value))
      return false;
  const Json& required = required_affinity(spec);
  if (required.is_null()) return true;
  return std::ranges::any_of(required["nodeSelectorTerms"].items(),
                             [&](const Json& term) { return term_matches(term, node); });
}

}  // namespace

NodeFit fit_for(const Json& spec, const Json& node) {
  const std::string_view fixed = spec["nodeName"].as_string();
  if (!fixed.empty() && fixed != api::name_of(node)) return {};
  if (!affinity_fits(spec, node)) return {};
  return {.runs = !api::has_taint_against(spec, node, {"NoSchedule", "NoExecute"}),
          .stays = !api::has_taint_against(spec, node, {"NoExecute"})};
}

Json daemon_pod_spec(const Json& pod_template) {
  Json spec = pod_template["spec"];
  Json tolerations = spec["tolerations"].is_array() ? spec["tolerations"] : Json::array();
  const auto add = [&](const char* key, const char* effect) {
    const bool there = std::ranges::any_of(tolerations.items(), [&](const Json& one) {
      return one["key"].as_string() == key && one["effect"].as_string() == effect &&
             one["operator"].as_string() == "Exists";
    });
    if (!there) tolerations.push_back(Json::object({{"key", key}, {"operator", "Exists"}, {"effect", effect}}));
  };
  add("node.kubernetes.io/not-ready", "NoExecute");
  add("node.kubernetes.io/unreachable", "NoExecute");
  for (const char* key : {"node.kubernetes.io/disk-pressure", "node.kubernetes.io/memory-pressure",
                          "node.kubernetes.io/pid-pressure", "node.kubernetes.io/unschedulable"})
    add(key, "NoSchedule");
  if (spec["hostNetwork"].as_bool()) add("node.kubernetes.io/network-unavailable", "NoSchedule");
  spec.set("tolerations", std::move(tolerations));
  return spec;
}

Json spec_for_node(Json spec, std::string_view node) {
  Json field = Json::object({{"key", kNameField}, {"operator", "In"}, {"values", Json::array({Json(node)})}});
  Json term = Json::object({{"matchFields", Json::array({std::move(field)})}});
  // It was asked already whether the node is one that the template means.
  spec.edit_path({"affinity", "nodeAffinity"})
      .set("requiredDuringSchedulingIgnoredDuringExecution",
           Json::object({{"nodeSelectorTerms", Json::array({std::move(term)})}}));
  return spec;
}

std::string node_of(const Json& pod) {
  if (!pod["spec"]["nodeName"].as_string().empty()) return pod["spec"]["nodeName"].str();
  for (const Json& term : required_affinity(pod["spec"])["nodeSelectorTerms"].items())
    for (const Json& field : term["matchFields"].items())
      if (field["key"].as_string() == kNameField && field["operator"].as_string() == "In" &&
          field["values"].size() == 1)
        return field["values"][std::size_t{0}].str();
  return {};
}

}  // namespace controllers::workloads
