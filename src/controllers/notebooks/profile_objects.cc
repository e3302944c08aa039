// One function an object, in the order in which they are made.
#include "controllers/notebooks/profile_objects.h"

#include <utility>

#include "api/meta/resource.h"
#include "base/format.h"

namespace controllers::notebooks {

using api::Json;

namespace {

constexpr std::string_view kRbac = "rbac.authorization.k8s.io";

std::string_view owner_of(const Json& profile) { return profile["spec"]["owner"]["name"].as_string(); }

Json made(std::string_view api_version, std::string_view kind, std::string_view name, const Json& profile) {
  return Json::object({{"apiVersion", api_version},
                       {"kind", kind},
                       {"metadata", Json::object({{"name", name}, {"namespace", api::name_of(profile)}})}});
}

Json owner_annotations(const Json& profile) { return Json::object({{"user", owner_of(profile)}, {"role", "admin"}}); }

Json binding(const Json& profile, std::string_view name, std::string_view role, Json subject) {
  Json out = made("rbac.authorization.k8s.io/v1", "RoleBinding", name, profile);
  out.set("roleRef", Json::object({{"apiGroup", kRbac}, {"kind", "ClusterRole"}, {"name", role}}));
  out.set("subjects", Json::array({std::move(subject)}));
  return out;
}

Json rule(std::initializer_list<const char*> groups, std::initializer_list<const char*> resources,
          std::initializer_list<const char*> verbs) {
  const auto list = [](std::initializer_list<const char*> words) {
    Json out = Json::array();
    for (const char* word : words) out.push_back(word);
    return out;
  };
  return Json::object({{"apiGroups", list(groups)}, {"resources", list(resources)}, {"verbs", list(verbs)}});
}

Json cluster_role(std::string name) {
  return Json::object({{"apiVersion", "rbac.authorization.k8s.io/v1"},
                       {"kind", "ClusterRole"},
                       {"metadata", Json::object({{"name", std::move(name)}})}});
}

std::string gathers(std::string_view level) {
  return base::format("rbac.authorization.kubeflow.org/aggregate-to-kubeflow-{}", level);
}

Json selector(const std::string& label) { return Json::object({{"matchLabels", Json::object({{label, "true"}})}}); }

}  // namespace

Json profile_namespace(const Json& profile, const Options& options) {
  Json labels = Json::object({{"istio-injection", "enabled"}});
  for (const auto& [name, value] : options.namespace_labels)
    if (!value.empty()) labels.set(name, value);
  return Json::object(
      {{"apiVersion", "v1"},
       {"kind", "Namespace"},
       {"metadata", Json::object({{"name", api::name_of(profile)},
                                  {"annotations", Json::object({{"owner", owner_of(profile)}})},
                                  {"labels", std::move(labels)},
                                  {"ownerReferences", Json::array({api::controller_reference(profile)})}})}});
}

std::vector<Json> profile_accounts(const Json& profile) {
  return {made("v1", "ServiceAccount", "default-editor", profile),
          made("v1", "ServiceAccount", "default-viewer", profile)};
}

std::vector<Json> profile_bindings(const Json& profile) {
  const auto account = [&](const char* name) {
    return Json::object({{"kind", "ServiceAccount"}, {"name", name}, {"namespace", api::name_of(profile)}});
  };
  Json owner = profile["spec"]["owner"];
  if (owner["kind"].as_string() != "ServiceAccount" && owner["apiGroup"].as_string().empty())
    owner.set("apiGroup", kRbac);
  Json of_owner = binding(profile, "namespaceAdmin", "kubeflow-admin", std::move(owner));
  of_owner.edit("metadata").set("annotations", owner_annotations(profile));
  return {binding(profile, "default-editor", "kubeflow-edit", account("default-editor")),
          binding(profile, "default-viewer", "kubeflow-view", account("default-viewer")), std::move(of_owner)};
}

Json profile_quota(const Json& profile) {
  const Json& limits = profile["spec"]["resourceQuotaSpec"];
  if (limits["hard"].empty()) return {};
  Json quota = made("v1", "ResourceQuota", kQuota, profile);
  quota.set("spec", limits);
  return quota;
}

Json profile_policy(const api::ResourceId& resource, const Json& profile, const Options& options) {
  const auto when = [](std::string key, std::string value) {
    const Json condition = Json::object({{"key", std::move(key)}, {"values", Json::array({Json(std::move(value))})}});
    return Json::object({{"when", Json::array({condition})}});
  };
  // Probes of Knative.
  const Json paths = Json::array({Json("/healthz"), Json("/metrics"), Json("/wait-for-drain")});
  const Json probes =
      Json::object({{"to", Json::array({Json::object({{"operation", Json::object({{"paths", paths}})}})})}});
  Json policy = made(resource.api_version(), "AuthorizationPolicy", "ns-owner-access-istio", profile);
  policy.edit("metadata").set("annotations", owner_annotations(profile));
  policy.set(
      "spec",
      Json::object({{"action", "ALLOW"},
                    {"rules", Json::array({when(base::format("request.headers[{}]", options.user_header),
                                                options.user_prefix + std::string(owner_of(profile))),
                                           when("source.namespace", std::string(api::name_of(profile))), probes})}}));
  return policy;
}

std::vector<Json> profile_roles() {
  std::vector<Json> roles;
  for (const auto& [level, below, kubernetes] :
       {std::tuple{"admin", "", "admin"}, std::tuple{"edit", "admin", "edit"}, std::tuple{"view", "edit", "view"}}) {
    Json role = cluster_role(base::format("kubeflow-{}", level));
    if (*below != '\0') role.edit("metadata").set("labels", Json::object({{gathers(below), "true"}}));
    const Json all = Json::array(
        {selector(gathers(level)), selector(base::format("rbac.authorization.k8s.io/aggregate-to-{}", kubernetes))});
    role.set("aggregationRule", Json::object({{"clusterRoleSelectors", all}}));
    role.set("rules", Json::array());
    roles.push_back(std::move(role));
  }
  const auto of_kinds = [&](std::string_view level, std::initializer_list<const char*> verbs) {
    Json role = cluster_role(base::format("kubeflow-volcano-{}", level));
    role.edit("metadata").set("labels", Json::object({{gathers(level), "true"}}));
    role.set("rules", Json::array({rule({"kubeflow.org"},
                                        {"notebooks", "pvcviewers", "poddefaults", "pytorchjobs", "tfjobs", "mpijobs",
                                         "xgboostjobs", "paddlejobs", "jaxjobs"},
                                        verbs),
                                   rule({"tensorboard.kubeflow.org"}, {"tensorboards"}, verbs),
                                   rule({"batch.volcano.sh"}, {"jobs", "cronjobs"}, verbs),
                                   rule({"bus.volcano.sh"}, {"commands"}, verbs),
                                   rule({"flow.volcano.sh"}, {"jobflows", "jobtemplates"}, verbs),
                                   rule({"scheduling.volcano.sh"}, {"podgroups"}, {"get", "list", "watch"})}));
    roles.push_back(std::move(role));
  };
  of_kinds("edit", {"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"});
  of_kinds("view", {"get", "list", "watch"});
  return roles;
}

}  // namespace controllers::notebooks
