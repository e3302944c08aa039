// Kubeflow's access management (KFAM): who may what in the namespace of a Profile, and Profiles themselves.
#include <array>
#include <optional>

#include "api/kubeflow/v1/profile.h"
#include "base/format.h"
#include "webapps/apps.h"
#include "webapps/objects.h"

namespace webapps {

using api::Json;
using api::resources::kProfiles;

namespace {

constexpr std::string_view kRbac = "rbac.authorization.k8s.io";
const api::ResourceId kRoleBindings{std::string(kRbac), "v1", "rolebindings"};
const api::ResourceId kAccessReviews{"authorization.k8s.io", "v1", "subjectaccessreviews"};
const api::ResourceId kOwnAccessReviews{"authorization.k8s.io", "v1", "selfsubjectaccessreviews"};

struct RoleName {
  std::string_view shown, role;
};
constexpr std::array kRoleNames = {RoleName{"admin", "kubeflow-admin"}, RoleName{"edit", "kubeflow-edit"},
                                   RoleName{"view", "kubeflow-view"}};

std::string_view shown_role(std::string_view role) {
  for (const RoleName& row : kRoleNames)
    if (row.role == role) return row.shown;
  return {};
}

// Small letters and digits stay, everything else becomes a hyphen.
void append_plain(std::string& name, std::string_view text) {
  if (!name.empty() && !name.ends_with('-')) name += '-';
  for (const char c : text) {
    const char small = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if ((small >= 'a' && small <= 'z') || (small >= '0' && small <= '9')) {
      name += small;
    } else if (!name.ends_with('-')) {
      name += '-';
    }
  }
}

struct Binding {
  std::string ns, name;
  Json object;
};

base::Result<Binding> binding_of(const Call& call) {
  const Json& user = call.body["user"];
  const Json& role = call.body["roleRef"];
  Binding binding{.ns = call.body["referredNamespace"].str(), .name = {}, .object = {}};
  if (binding.ns.empty()) return bad_request("referredNamespace is missing in the body");
  if (!user["name"].is_string() || user["name"].as_string().empty())
    return bad_request("user.name is missing in the body");
  const std::string_view kind = user["kind"].as_string("User"), shown = role["name"].as_string();
  std::string_view full;
  for (const RoleName& row : kRoleNames)
    if (row.shown == shown) full = row.role;
  if (full.empty()) return bad_request(base::format("roleRef.name: {:?} is none of admin, edit and view", shown));
  for (const std::string_view part : {kind, user["name"].as_string(), role["kind"].as_string("ClusterRole"), shown})
    append_plain(binding.name, part);
  Json subject = Json::object({{"kind", kind}, {"name", user["name"]}});
  if (kind != "ServiceAccount") subject.set("apiGroup", kRbac);
  binding.object = Json::object(
      {{"apiVersion", base::format("{}/v1", kRbac)},
       {"kind", "RoleBinding"},
       {"metadata", Json::object({{"name", binding.name},
                                  {"annotations", Json::object({{"user", user["name"]}, {"role", shown}})}})},
       {"roleRef", Json::object({{"apiGroup", kRbac}, {"kind", "ClusterRole"}, {"name", full}})},
       {"subjects", Json::array({std::move(subject)})}});
  return binding;
}

base::Result<Reply> create_binding(const Call& call, Facts& facts) {
  TRY(Binding binding, binding_of(call));
  TRY_VOID(create(facts, kRoleBindings, binding.ns, std::move(binding.object)));
  return Reply();
}

base::Result<Reply> delete_binding(const Call& call, Facts& facts) {
  TRY(const Binding binding, binding_of(call));
  TRY_VOID(remove(facts, kRoleBindings, binding.ns, binding.name, "Background"));
  return Reply();
}

// The row of a RoleBinding that this API made, or that a Profile's owner has.
std::optional<Json> row_of(const Json& object, const Call& call) {
  const Json& annotations = object["metadata"]["annotations"];
  const std::string user = annotations["user"].str(), role = annotations["role"].str();
  if (user.empty() || role.empty() || object["subjects"].size() != 1) return std::nullopt;
  if (const std::string wanted = call.query("user"); !wanted.empty() && wanted != user) return std::nullopt;
  if (const std::string wanted = call.query("role"); !wanted.empty() && wanted != role) return std::nullopt;
  const Json& subject = object["subjects"][0];
  const Json& ref = object["roleRef"];
  return Json::object(
      {{"user", Json::object({{"kind", subject["kind"]}, {"name", subject["name"]}})},
       {"referredNamespace", api::namespace_of(object)},
       {"roleRef", Json::object({{"kind", ref["kind"]}, {"name", shown_role(ref["name"].as_string())}})}});
}

// Namespaces are those of Profiles, where none is named. Users hear of their own bindings without a right to list:
// whoever may do something may know it.
base::Result<Reply> bindings(const Call& call, Facts& facts) {
  std::vector<std::string> namespaces;
  const std::string named = call.query("namespace");
  const bool are_own = named.empty() && !call.user.empty() && call.query("user") == call.user;
  if (!named.empty()) namespaces = {named};
  if (named.empty() && !are_own) {
    TRY(const auto profiles, list(facts, kProfiles, {}));
    for (const Json& profile : profiles) namespaces.emplace_back(api::name_of(profile));
  }
  if (are_own) namespaces = {std::string()};
  Json rows = Json::array();
  for (const std::string& ns : namespaces) {
    TRY(const auto objects, list(facts, kRoleBindings, ns));
    for (const Json& object : objects)
      if (auto row = row_of(object, call)) rows.push_back(*std::move(row));
  }
  return answer("bindings", std::move(rows));
}

base::Result<Reply> create_profile(const Call& call, Facts& facts) {
  Json profile = call.body;
  profile.set("apiVersion", "kubeflow.org/v1");
  profile.set("kind", "Profile");
  TRY_VOID(create(facts, kProfiles, {}, std::move(profile)));
  return Reply();
}

base::Result<Reply> delete_profile(const Call& call, Facts& facts) {
  TRY_VOID(remove(facts, kProfiles, {}, call.names[0], "Background"));
  return Reply();
}

// An administrator may do everything.
base::Result<Reply> is_admin(const Call& call, Facts& facts) {
  const std::string user = call.query("user");
  const bool is_self = user.empty() || user == call.user;
  Json spec = Json::object({{"resourceAttributes", Json::object({{"group", "*"}, {"resource", "*"}, {"verb", "*"}})}});
  if (!is_self) spec.set("user", user);
  Json review = Json::object({{"apiVersion", "authorization.k8s.io/v1"},
                              {"kind", is_self ? "SelfSubjectAccessReview" : "SubjectAccessReview"},
                              {"spec", std::move(spec)}});
  TRY(const Json made, create(facts, is_self ? kOwnAccessReviews : kAccessReviews, {}, std::move(review)));
  return Reply{.body = Json(made["status"]["allowed"].as_bool())};
}

}  // namespace

std::span<const Route> access_routes() {
  static const std::array kRoutes = {
      Route{"GET", "v1/bindings", bindings},
      Route{"POST", "v1/bindings", create_binding},
      Route{"DELETE", "v1/bindings", delete_binding},
      Route{"POST", "v1/profiles", create_profile},
      Route{"DELETE", "v1/profiles/{}", delete_profile},
      Route{"GET", "v1/role/clusteradmin", is_admin},
  };
  return kRoutes;
}

}  // namespace webapps
