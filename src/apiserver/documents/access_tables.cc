// Columns of roles and bindings.
#include "apiserver/documents/access_tables.h"

#include <string>
#include <vector>

#include "base/format.h"
#include "base/split.h"

namespace apiserver {

using api::Json;

namespace {

std::vector<Json> role_cells(const Json& role, base::Time) { return {role["metadata"]["creationTimestamp"]}; }

Json subjects_of(const Json& binding, std::string_view kind) {
  std::vector<std::string> names;
  for (const Json& subject : binding["subjects"].items()) {
    if (subject["kind"].as_string() != kind) continue;
    const std::string name = subject["name"].str();
    names.push_back(kind == "ServiceAccount" ? base::format("{}/{}", subject["namespace"].as_string(), name) : name);
  }
  return Json(base::join(names, ", "));
}

std::vector<Json> binding_cells(const Json& binding, base::Time now) {
  const Json& role = binding["roleRef"];
  return {Json(base::format("{}/{}", role["kind"].as_string(), role["name"].as_string())), age_of(binding, now),
          subjects_of(binding, "User"), subjects_of(binding, "Group"), subjects_of(binding, "ServiceAccount")};
}

}  // namespace

const Printer* access_printer(std::string_view kind) {
  static const Printer roles{{{"Created At", ""}}, role_cells};
  static const Printer bindings{{{"Role", ""},
                                 {"Age", ""},
                                 {"Users", "", "string", 1},
                                 {"Groups", "", "string", 1},
                                 {"ServiceAccounts", "", "string", 1}},
                                binding_cells};
  if (kind == "Role" || kind == "ClusterRole") return &roles;
  if (kind == "RoleBinding" || kind == "ClusterRoleBinding") return &bindings;
  return nullptr;
}

}  // namespace apiserver
