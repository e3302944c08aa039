// The three objects, and how they are written: applied, so that what is right already is left alone.
#include "apiserver/pipeline/own_service.h"

#include <memory>
#include <optional>

#include "api/network_resources.h"

namespace apiserver {

using api::Json;

namespace {

constexpr std::string_view kName = "kubernetes", kNamespace = "default";

Json object_named(std::string_view api_version, std::string_view kind, Json labels) {
  return Json::object({{"apiVersion", api_version},
                       {"kind", kind},
                       {"metadata", Json::object({{"name", kName}, {"namespace", kNamespace}, {"labels", labels}})}});
}

Json port_json(int port) { return Json::object({{"name", "https"}, {"port", port}, {"protocol", "TCP"}}); }

std::vector<Json> own_objects(const ServiceNetwork& network, const ServerPlace& place) {
  const std::string address = api::ipv4_text(server_address(network));
  Json service = object_named("v1", "Service", Json::object({{"component", "apiserver"}, {"provider", "kubernetes"}}));
  Json port = port_json(443);
  port.set("targetPort", place.port);
  service.set("spec", Json::object({{"type", "ClusterIP"},
                                    {"clusterIP", address},
                                    {"clusterIPs", Json::array({Json(address)})},
                                    {"sessionAffinity", "None"},
                                    {"ports", Json::array({std::move(port)})}}));
  if (!api::parse_ipv4(place.address)) return {std::move(service)};
  Json endpoints = object_named("v1", "Endpoints", Json::object({{"endpointslice.kubernetes.io/skip-mirror", "true"}}));
  endpoints.set("subsets",
                Json::array({Json::object({{"addresses", Json::array({Json::object({{"ip", place.address}})})},
                                           {"ports", Json::array({port_json(place.port)})}})}));
  Json slice =
      object_named("discovery.k8s.io/v1", "EndpointSlice", Json::object({{api::resources::kServiceNameLabel, kName}}));
  slice.set("addressType", "IPv4");
  slice.set("endpoints", Json::array({Json::object({{"addresses", Json::array({Json(place.address)})},
                                                    {"conditions", Json::object({{"ready", true}})}})}));
  slice.set("ports", Json::array({port_json(place.port)}));
  return {std::move(service), std::move(endpoints), std::move(slice)};
}

Request applied(Json object) {
  Request request;
  request.verb = Verb::kPatch;
  request.patch_type = PatchType::kApply;
  request.kind = api::find_kind_named(object["apiVersion"].as_string(), object["kind"].as_string());
  request.resource = static_cast<std::uint32_t>(request.kind - api::all_kinds().data());
  request.ns = kNamespace;
  request.name = kName;
  request.user = {"system:apiserver", {"system:masters"}};
  request.field_manager = "kube-apiserver";
  request.force = true;
  request.body = std::move(object);
  return request;
}

}  // namespace

void keep_own_service(Api& api, const ServiceNetwork& network, const ServerPlace& place,
                      std::function<void(base::Status)> done) {
  std::vector<Json> objects = own_objects(network, place);
  auto left = std::make_shared<std::size_t>(objects.size());
  auto failed = std::make_shared<std::optional<base::Error>>();
  for (Json& object : objects)
    api.call(applied(std::move(object)), [left, failed, done](base::Result<Answer> answer) {
      if (!answer.ok() && !*failed) *failed = answer.take_error();
      if (--*left == 0) done(*failed ? base::Status(**failed) : base::Status());
    });
}

}  // namespace apiserver
