// Nodes.
#include <array>
#include <set>
#include <string>
#include <vector>

#include "api/ipv4.h"
#include "api/schema/field_errors.h"
#include "api/schema/names.h"
#include "apiserver/kinds/cells.h"
#include "apiserver/kinds/defaults.h"
#include "apiserver/kinds/rows.h"

namespace apiserver {

using api::Json;

namespace {

using api::at;
using api::FieldErrors;
using api::in;

// The one range and the list say the same: where they differ, the one range is meant.
void default_node(Json& object) {
  if (!takes_members(object["spec"])) return;
  const Json range = object["spec"]["podCIDR"];
  const Json& ranges = object["spec"]["podCIDRs"];
  if (!(range.is_null() || range.is_string()) || !(ranges.is_null() || ranges.is_array())) return;
  const bool has_other = !ranges.empty() && ranges[std::size_t{0}].is_string() && ranges[std::size_t{0}] != range;
  if (!range.as_string().empty() && (ranges.empty() || has_other))
    object.edit("spec").set("podCIDRs", Json::array({range}));
  else if (!ranges.empty() && ranges[std::size_t{0}].is_string() && range.as_string().empty())
    object.edit("spec").set("podCIDR", Json(ranges[std::size_t{0}]));
}

void check_ranges(const Json& ranges, api::FieldErrors& errors) {
  const std::string path = "spec.podCIDRs";
  const std::size_t so_far = errors.size();
  for (std::size_t i = 0; i < ranges.size(); ++i)
    if (const auto why = api::ip_range_problem(ranges[i].as_string()); !why.empty())
      errors.invalid(at(path, i), ranges[i].as_string(), why);
  if (ranges.size() < 2 || errors.size() != so_far) return;
  const auto is_six = [](const Json& range) { return range.as_string().find(':') != std::string_view::npos; };
  if (ranges.size() > 2 || is_six(ranges[std::size_t{0}]) == is_six(ranges[std::size_t{1}]))
    errors.invalid(path, ranges, "may specify no more than one CIDR for each IP family");
}

void check_node(const Json&, const Json& object, api::FieldErrors& errors) {
  constexpr std::array<std::string_view, 3> kEffects = {"NoSchedule", "PreferNoSchedule", "NoExecute"};
  const Json& spec = object["spec"];
  std::set<std::string> taints;
  for (std::size_t i = 0; i < spec["taints"].size(); ++i) {
    if (!taints.insert(spec["taints"][i]["key"].str() + ":" + spec["taints"][i]["effect"].str()).second)
      errors.duplicate(at("metadata.taints", i), spec["taints"][i]);
    const std::string where = at("metadata.taints", i);  // Kubernetes' own path
    const Json& taint = spec["taints"][i];
    errors.invalid(in(where, "key"), taint["key"].str(), api::check_qualified_name(taint["key"].as_string()));
    if (const std::string value = taint["value"].str(); !value.empty())
      errors.invalid(in(where, "value"), value, api::check_label_value(value));
    if (taint["effect"].as_string().empty())
      errors.required(in(where, "effect"));
    else
      errors.one_of(in(where, "effect"), taint["effect"].as_string(), kEffects);
  }
  check_ranges(spec["podCIDRs"], errors);
}

constexpr FixedField kFixedOfNode[] = {
    {"spec.providerID", "node updates may not change providerID except from \"\" to valid", true, true},
    {"spec.podCIDRs", "node updates may not change podCIDR except from \"\" to valid", true, true}};

std::vector<Json> node_cells(const Json& node, base::Time now) {
  std::vector<std::string> states;
  for (const Json& condition : node["status"]["conditions"].items())
    if (condition["type"].as_string() == "Ready")
      states.emplace_back(condition["status"].as_string() == "True" ? "Ready" : "NotReady");
  if (states.empty()) states.emplace_back("Unknown");
  if (node["spec"]["unschedulable"].as_bool()) states.emplace_back("SchedulingDisabled");
  std::vector<std::string> roles;
  for (const Json::Member& label : node["metadata"]["labels"].members()) {
    constexpr std::string_view kPrefix = "node-role.kubernetes.io/";
    if (label.name().starts_with(kPrefix) && label.name().size() > kPrefix.size())
      roles.emplace_back(label.name().substr(kPrefix.size()));
  }
  const auto address = [&](std::string_view type) {
    for (const Json& row : node["status"]["addresses"].items())
      if (row["type"].as_string() == type) return row["address"].str();
    return std::string("<none>");
  };
  const Json& info = node["status"]["nodeInfo"];
  return {joined(states, ""),
          joined(roles, "<none>"),
          age_of(node, now),
          info["kubeletVersion"],
          Json(address("InternalIP")),
          Json(address("ExternalIP")),
          text_or(info["osImage"], "<unknown>"),
          text_or(info["kernelVersion"], "<unknown>"),
          text_or(info["containerRuntimeVersion"], "<unknown>")};
}
constexpr api::Column kColumnsOfNode[] = {{"Status", ""},
                                          {"Roles", ""},
                                          {"Age", ""},
                                          {"Version", ""},
                                          {"Internal-IP", "", "string", 1},
                                          {"External-IP", "", "string", 1},
                                          {"OS-Image", "", "string", 1},
                                          {"Kernel-Version", "", "string", 1},
                                          {"Container-Runtime", "", "string", 1}};
constexpr std::string_view kSelectableOfNode[] = {"spec.unschedulable"};

}  // namespace

const KindRules kNode = {.kind = "Node",
                         .defaults = default_node,
                         .check = check_node,
                         .fixed = kFixedOfNode,
                         .table = {kColumnsOfNode, node_cells},
                         .selectable = kSelectableOfNode};

}  // namespace apiserver
