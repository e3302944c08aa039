// Nodes.
#include <array>
#include <set>
#include <string>

#include "api/ipv4.h"
#include "api/schema/field_errors.h"
#include "api/schema/names.h"
#include "apiserver/kinds/defaults.h"
#include "apiserver/kinds/rows.h"

namespace apiserver {

using api::Json;

namespace {

using api::at;
using api::FieldErrors;
using api::in;

void default_node(Json& object) {
  if (const Json& range = object["spec"]["podCIDR"]; range.is_string() && takes_members(object["spec"]))
    set_if_absent(object.edit("spec"), "podCIDRs", Json::array({Json(range)}));
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
  for (std::size_t i = 0; i < spec["podCIDRs"].size(); ++i) {
    const std::string_view range = spec["podCIDRs"][i].as_string();
    const std::size_t slash = range.find('/');
    if (slash == std::string_view::npos || !api::is_ip_address(range.substr(0, slash)))
      errors.invalid(at("spec.podCIDRs", i), range, "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)");
  }
}

constexpr FixedField kFixedOfNode[] = {
    {"spec.providerID", "node updates may not change providerID except from \"\" to valid", true, true},
    {"spec.podCIDRs", "node updates may not change podCIDR except from \"\" to valid", true, true}};

}  // namespace

const KindRules kNode = {.kind = "Node", .defaults = default_node, .check = check_node, .fixed = kFixedOfNode};

}  // namespace apiserver
