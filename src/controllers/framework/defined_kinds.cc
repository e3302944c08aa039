// Reading of definitions.
#include "controllers/framework/defined_kinds.h"

#include <algorithm>

namespace controllers {

using api::Json;

const api::Projection& definition_parts() {
  static const api::Projection kParts{"apiVersion",
                                      "kind",
                                      "metadata",
                                      "spec.group",
                                      "spec.names",
                                      "spec.scope",
                                      "spec.versions.name",
                                      "spec.versions.served",
                                      "spec.versions.storage",
                                      "status.conditions"};
  return kParts;
}

const api::Projection& defined_kind_parts() {
  static const api::Projection kParts{"apiVersion", "kind", "metadata.*", "-metadata.managedFields"};
  return kParts;
}

std::optional<api::KindInfo> defined_kind(const Json& definition) {
  const Json& spec = definition["spec"];
  const bool established = std::ranges::any_of(definition["status"]["conditions"].items(), [](const Json& one) {
    return one["type"].as_string() == "Established" && one["status"].as_string() == "True";
  });
  const auto own = api::all_kinds();
  const bool is_own = std::ranges::any_of(own, [&](const api::KindInfo& kind) {
    return kind.resource.group == spec["group"].as_string() &&
           kind.resource.plural == spec["names"]["plural"].as_string();
  });
  if (!established || is_own) return {};
  // Objects are read as they are stored where that is served.
  const Json* version = nullptr;
  for (const Json& one : spec["versions"].items())
    if (one["served"].as_bool() && (version == nullptr || one["storage"].as_bool())) version = &one;
  if (version == nullptr) return {};
  api::KindInfo kind;
  kind.resource = {spec["group"].str(), (*version)["name"].str(), spec["names"]["plural"].str()};
  kind.kind = spec["names"]["kind"].str();
  kind.namespaced = spec["scope"].as_string() == "Namespaced";
  kind.custom = true;
  return kind;
}

}  // namespace controllers
