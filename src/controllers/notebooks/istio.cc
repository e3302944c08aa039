// Objects of Istio as values.
#include "controllers/notebooks/istio.h"

#include "base/format.h"
#include "controllers/workloads/pods.h"

namespace controllers::notebooks {

using api::Json;

namespace {

constexpr const char* kApplied = "notebooks.volcano.sh/applied";

}  // namespace

KindOfStranger virtual_services() { return {"networking.istio.io", "virtualservices"}; }
KindOfStranger authorization_policies() { return {"security.istio.io", "authorizationpolicies"}; }

Json virtual_service(const api::ResourceId& resource, const Json& owner, const Route& route, const Options& options) {
  const std::string ns(api::namespace_of(owner));
  const Json destination =
      Json::object({{"host", base::format("{}.{}.svc.{}", route.service, ns, options.cluster_domain)},
                    {"port", Json::object({{"number", 80}})}});
  Json rule = Json::object();
  if (!route.headers.is_null())
    rule.set("headers", Json::object({{"request", Json::object({{"set", route.headers}})}}));
  rule.set("match", Json::array({Json::object({{"uri", Json::object({{"prefix", route.prefix}})}})}));
  rule.set("rewrite", Json::object({{"uri", route.rewrite}}));
  rule.set("route", Json::array({Json::object({{"destination", destination}})}));
  if (!route.timeout.empty()) rule.set("timeout", route.timeout);
  const Json spec = Json::object({{"hosts", Json::array({Json(options.istio_host)})},
                                  {"gateways", Json::array({Json(options.istio_gateway)})},
                                  {"http", Json::array({std::move(rule)})}});
  return Json::object({{"apiVersion", resource.api_version()},
                       {"kind", "VirtualService"},
                       {"metadata", Json::object({{"name", route.name}, {"namespace", ns}})},
                       {"spec", spec}});
}

void keep_stranger(Plan& plan, const View& view, const Json& owner, const api::ResourceId& resource, Json wanted) {
  const std::string hash = workloads::hash_text(workloads::hash_of(wanted.sorted().dump()), 12);
  wanted.edit("metadata").edit("annotations").set(kApplied, hash);
  const Json* there = view.find(resource, api::key_of(wanted));
  if (there == nullptr) {
    wanted.edit("metadata").set("ownerReferences", Json::array({api::controller_reference(owner)}));
    Action& action = plan.create(resource, std::move(wanted));
    action.stops_nothing = true;
    return;
  }
  if (api::controller_of(*there)["uid"].as_string() != api::uid_of(owner) || api::is_deleting(*there) ||
      api::annotation_of(*there, kApplied) == hash)
    return;
  Json metadata = Json::object({{"uid", api::uid_of(*there)}, {"annotations", wanted["metadata"]["annotations"]}});
  plan.patch(resource, *there, client::PatchType::kMerge,
             Json::object({{"metadata", std::move(metadata)}, {"spec", wanted["spec"]}}))
      .stops_nothing = true;
}

std::vector<Write> with_server_writes(std::vector<Write> rows, const Options& options) {
  rows.push_back({api::resources::kServices, "create update"});
  if (options.isolates) rows.push_back({api::resources::kNetworkPolicies, "create update"});
  if (options.istio) rows.push_back({{"networking.istio.io", "v1", "virtualservices"}, "create patch"});
  return rows;
}

}  // namespace controllers::notebooks
