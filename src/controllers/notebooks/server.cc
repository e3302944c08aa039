// Deployments and Services as values, and how they are kept.
#include "controllers/notebooks/server.h"

#include "base/format.h"
#include "controllers/workloads/pods.h"

namespace controllers::notebooks {

using api::Json;

namespace {

constexpr std::size_t kConditionsMax = 16;

}  // namespace

bool ServerStep::keep(const api::ResourceId& resource, const Json& wanted) {
  if (owned_.keep(plan_, view_, object_, resource, wanted) != OwnedObjects::Kept::kTaken) return true;
  warn("NameTaken", OwnedObjects::taken_text(wanted));
  return false;
}

void ServerStep::route(const KindOfStranger& virtual_services, const Route& route, const Options& options) {
  if (!virtual_services.resource() || !options.istio) return;
  const api::ResourceId& resource = *virtual_services.resource();
  keep_stranger(plan_, view_, object_, resource, virtual_service(resource, object_, route, options));
}

void ServerStep::warn(std::string_view reason, const std::string& text) {
  if (reported_now_.is_new(text)) plan_.event(object_, "Warning", reason, text);
}

const Json* ServerStep::deployment(std::string_view name) const {
  const Json* found = view_.find(workloads::kDeployments, base::format("{}/{}", api::namespace_of(object_), name));
  if (found == nullptr || api::controller_of(*found)["uid"].as_string() != api::uid_of(object_)) return nullptr;
  return found;
}

Json deployment_of(const Json& owner, ServerParts parts) {
  Json spec = Json::object({{"replicas", 1},
                            {"selector", Json::object({{"matchLabels", parts.selector}})},
                            {"template", Json::object({{"metadata", Json::object({{"labels", parts.labels}})},
                                                       {"spec", std::move(parts.pod)}})}});
  if (parts.recreates) spec.set("strategy", Json::object({{"type", "Recreate"}}));
  return Json::object(
      {{"apiVersion", "apps/v1"},
       {"kind", "Deployment"},
       {"metadata",
        Json::object({{"name", parts.name}, {"namespace", api::namespace_of(owner)}, {"labels", parts.selector}})},
       {"spec", std::move(spec)}});
}

Json service_of(const Json& owner, std::string name, const Json& selector, std::string port_name, const Json& target) {
  const Json port =
      Json::object({{"name", std::move(port_name)}, {"port", 80}, {"protocol", "TCP"}, {"targetPort", target}});
  return Json::object(
      {{"apiVersion", "v1"},
       {"kind", "Service"},
       {"metadata", Json::object({{"name", std::move(name)}, {"namespace", api::namespace_of(owner)}})},
       {"spec", Json::object({{"type", "ClusterIP"}, {"selector", selector}, {"ports", Json::array({port})}})}});
}

Json policy_of(const Json& owner, std::string name, const Json& labels) {
  const Json anybody = Json::object({{"podSelector", Json::object()}});
  return Json::object(
      {{"apiVersion", "networking.k8s.io/v1"},
       {"kind", "NetworkPolicy"},
       {"metadata", Json::object({{"name", std::move(name)}, {"namespace", api::namespace_of(owner)}})},
       {"spec", Json::object({{"podSelector", Json::object({{"matchLabels", labels}})},
                              {"policyTypes", Json::array({Json("Ingress")})},
                              {"ingress", Json::array({Json::object({{"from", Json::array({anybody})}})})}})}});
}

std::function<Keys(const View&, const Json&)> owner_of_kind(std::string kind) {
  return [kind = std::move(kind)](const View&, const Json& object) -> Keys {
    const Json& owner = api::controller_of(object);
    if (owner["kind"].as_string() != kind) return {};
    return {base::format("{}/{}", api::namespace_of(object), owner["name"].as_string())};
  };
}

Json with_condition(const Json& before, std::string_view type_field, Json condition) {
  std::vector<Json> all;
  for (const Json& one : before.items()) all.push_back(one);
  if (!condition.is_null() && (all.empty() || all.back()[type_field] != condition[type_field]))
    all.push_back(std::move(condition));
  if (all.size() > kConditionsMax) all.erase(all.begin(), all.end() - kConditionsMax);
  return Json::array(std::move(all));
}

}  // namespace controllers::notebooks
