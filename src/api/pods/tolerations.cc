// Tolerations and taints, as Kubernetes matches them.
#include "api/pods/tolerations.h"

#include <algorithm>

namespace api {

namespace {

bool tolerates(const Json& toleration, const Json& taint) {
  const std::string_view effect = toleration["effect"].as_string(), key = toleration["key"].as_string();
  if (!effect.empty() && effect != taint["effect"].as_string()) return false;
  if (!key.empty() && key != taint["key"].as_string()) return false;
  const std::string_view op = toleration["operator"].as_string();
  if (op == "Exists") return true;
  return (op.empty() || op == "Equal") && !key.empty() && toleration["value"].as_string() == taint["value"].as_string();
}

}  // namespace

const Json* toleration_of(const Json& spec, const Json& taint) {
  for (const Json& toleration : spec["tolerations"].items())
    if (tolerates(toleration, taint)) return &toleration;
  return nullptr;
}

bool has_taint_against(const Json& spec, const Json& node, std::initializer_list<std::string_view> effects) {
  return std::ranges::any_of(node["spec"]["taints"].items(), [&](const Json& taint) {
    return std::ranges::find(effects, taint["effect"].as_string()) != effects.end() && !toleration_of(spec, taint);
  });
}

}  // namespace api
