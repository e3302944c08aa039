// Roles and their bindings, for a namespace and for the whole cluster.
#include <array>
#include <span>
#include <string>
#include <vector>

#include "api/schema/field_errors.h"
#include "api/schema/names.h"
#include "api/schema/path_rules.h"
#include "api/schema/selector_rules.h"
#include "apiserver/kinds/cells.h"
#include "apiserver/kinds/defaults.h"
#include "apiserver/kinds/rows.h"
#include "base/format.h"
#include "base/split.h"

namespace apiserver {

using api::Json;

namespace {

using api::at;
using api::FieldErrors;
using api::in;
using Words = std::span<const std::string_view>;

void check_rules(const Json&, const Json& object, api::FieldErrors& errors) {
  const bool whole_cluster = object["kind"].as_string() == "ClusterRole";
  const Json& gathered = object["aggregationRule"]["clusterRoleSelectors"];
  if (object["aggregationRule"].is_object() && gathered.empty())
    errors.required("aggregationRule.clusterRoleSelectors",
                    "at least one clusterRoleSelector required if aggregationRule is non-nil");
  for (std::size_t i = 0; i < gathered.size(); ++i)
    api::check_label_selector(gathered[i], at("aggregationRule.clusterRoleSelectors", i), errors);
  const Json& rules = object["rules"];
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const std::string where = at("rules", i);
    if (rules[i]["verbs"].empty()) errors.required(in(where, "verbs"), "verbs must contain at least one value");
    if (const Json& paths = rules[i]["nonResourceURLs"]; !paths.empty()) {
      if (!whole_cluster)
        errors.invalid(in(where, "nonResourceURLs"), paths, "namespaced rules cannot apply to non-resource URLs");
      for (const char* field : {"apiGroups", "resources", "resourceNames"})
        if (!rules[i][field].empty())
          errors.invalid(in(where, "nonResourceURLs"), paths,
                         "rules cannot apply to both regular resources and non-resource URLs");
      continue;
    }
    if (rules[i]["apiGroups"].empty())
      errors.required(in(where, "apiGroups"), "resource rules must supply at least one api group");
    if (rules[i]["resources"].empty())
      errors.required(in(where, "resources"), "resource rules must supply at least one resource");
  }
}

void check_binding(const Json&, const Json& object, api::FieldErrors& errors) {
  constexpr std::array<std::string_view, 2> kRoles = {"Role", "ClusterRole"};
  constexpr std::array<std::string_view, 1> kWhole = {"ClusterRole"};
  constexpr std::array<std::string_view, 3> kSubjects = {"ServiceAccount", "User", "Group"};
  constexpr std::array<std::string_view, 1> kGroup = {"rbac.authorization.k8s.io"};
  const bool whole_cluster = object["kind"].as_string() == "ClusterRoleBinding";
  const Json& role = object["roleRef"];
  errors.one_of("roleRef.apiGroup", role["apiGroup"].as_string(), kGroup);
  errors.one_of("roleRef.kind", role["kind"].as_string(), whole_cluster ? Words(kWhole) : Words(kRoles));
  if (role["name"].as_string().empty())
    errors.required("roleRef.name");
  else
    errors.invalid("roleRef.name", role["name"], api::check_path_segment(role["name"].as_string()));
  const Json& subjects = object["subjects"];
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    const std::string where = at("subjects", i);
    const std::string_view kind = subjects[i]["kind"].as_string();
    const std::string group = subjects[i]["apiGroup"].str(), name = subjects[i]["name"].str();
    if (name.empty()) errors.required(in(where, "name"));
    if (kind == "ServiceAccount" && !name.empty())
      errors.invalid(in(where, "name"), name, api::check_dns_subdomain(name));
    constexpr std::array<std::string_view, 1> kCore = {""};
    if (kind == "ServiceAccount") errors.one_of(in(where, "apiGroup"), group, kCore);
    if (kind == "User" || kind == "Group") errors.one_of(in(where, "apiGroup"), group, kGroup);
    errors.one_of(in(where, "kind"), kind, kSubjects);
    if (whole_cluster && kind == "ServiceAccount" && subjects[i]["namespace"].as_string().empty())
      errors.required(in(where, "namespace"));
  }
}

void default_subjects(Json& binding) {
  if (binding["roleRef"].is_object()) {
    if (binding["roleRef"]["apiGroup"] == Json(""))  // Go's clients write it out
      binding.edit("roleRef").erase("apiGroup");
    set_if_absent(binding.edit("roleRef"), "apiGroup", "rbac.authorization.k8s.io");
  }
  for (std::size_t i = 0; i < binding["subjects"].items().size(); ++i) {
    const std::string_view kind = binding["subjects"][i]["kind"].as_string();
    if (kind == "User" || kind == "Group")
      set_if_absent(binding.edit("subjects").edit(i), "apiGroup", "rbac.authorization.k8s.io");
  }
}

constexpr FixedField kFixedOfBinding[] = {{"roleRef", "cannot change roleRef"}};

std::vector<Json> role_cells(const Json& role, base::Time) { return {role["metadata"]["creationTimestamp"]}; }
constexpr api::Column kColumnsOfRole[] = {{"Created At", ""}};

Json subjects_of(const Json& binding, std::string_view kind) {
  std::vector<std::string> names;
  for (const Json& subject : binding["subjects"].items()) {
    if (subject["kind"].as_string() != kind) continue;
    const std::string name = subject["name"].str();
    names.push_back(kind == "ServiceAccount" ? base::format("{}/{}", subject["namespace"].as_string(), name) : name);
  }
  return Json(base::join(names, ", "));
}

std::vector<Json> role_binding_cells(const Json& binding, base::Time now) {
  const Json& role = binding["roleRef"];
  return {Json(base::format("{}/{}", role["kind"].as_string(), role["name"].as_string())), age_of(binding, now),
          subjects_of(binding, "User"), subjects_of(binding, "Group"), subjects_of(binding, "ServiceAccount")};
}
constexpr api::Column kColumnsOfRoleBinding[] = {{"Role", ""},
                                                 {"Age", ""},
                                                 {"Users", "", "string", 1},
                                                 {"Groups", "", "string", 1},
                                                 {"ServiceAccounts", "", "string", 1}};

}  // namespace

const KindRules kRole = {
    .kind = "Role", .naming = Naming::kPath, .check = check_rules, .table = {kColumnsOfRole, role_cells}};

const KindRules kClusterRole = {
    .kind = "ClusterRole", .naming = Naming::kPath, .check = check_rules, .table = {kColumnsOfRole, role_cells}};

const KindRules kRoleBinding = {.kind = "RoleBinding",
                                .naming = Naming::kPath,
                                .defaults = default_subjects,
                                .check = check_binding,
                                .fixed = kFixedOfBinding,
                                .table = {kColumnsOfRoleBinding, role_binding_cells}};

const KindRules kClusterRoleBinding = {.kind = "ClusterRoleBinding",
                                       .naming = Naming::kPath,
                                       .defaults = default_subjects,
                                       .check = check_binding,
                                       .fixed = kFixedOfBinding,
                                       .table = {kColumnsOfRoleBinding, role_binding_cells}};

}  // namespace apiserver
