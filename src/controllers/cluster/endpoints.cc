// Which addresses stand behind a service: the pods its selector finds.
#include <map>

#include "api/meta/resource.h"
#include "base/format.h"
#include "controllers/cluster/cluster.h"
#include "controllers/cluster/service_pods.h"

namespace controllers::cluster {

using api::Json;
namespace resources = api::resources;

namespace {

Json address_of(const Json& service, const Json& pod) {
  Json address = Json::object({{"ip", pod["status"]["podIP"]}});
  if (const std::string_view hostname = hostname_in(service, pod); !hostname.empty()) address.set("hostname", hostname);
  if (!pod["spec"]["nodeName"].as_string().empty()) address.set("nodeName", pod["spec"]["nodeName"]);
  address.set("targetRef", reference_to(pod));
  return address;
}

Json ports_for(const Json& service, const Json& pod) {
  Json ports = Json::array();
  for (const Json& one : service["spec"]["ports"].items()) {
    const std::int64_t number = target_port(one, pod);
    if (number == 0) continue;
    Json port = Json::object();
    if (!one["name"].as_string().empty()) port.set("name", one["name"]);
    port.set("port", number);
    port.set("protocol", one["protocol"].as_string("TCP"));
    ports.push_back(std::move(port));
  }
  return ports;
}

// Pods with the same ports share a subset; subsets and addresses are in a stable order.
Json subsets_for(const View& view, const Json& service) {
  struct Subset {
    Json ports;
    Json ready = Json::array();
    Json not_ready = Json::array();
  };
  std::map<std::string, Subset> subsets;
  const bool publish_all = service["spec"]["publishNotReadyAddresses"].as_bool();
  for (const Json* pod : pods_behind(view, service)) {
    if (api::is_deleting(*pod) && !publish_all) continue;
    Json ports = ports_for(service, *pod);
    if (ports.empty() && !service["spec"]["ports"].empty()) continue;
    Subset& subset = subsets[ports.dump()];
    subset.ports = std::move(ports);
    (publish_all || is_ready(*pod) ? subset.ready : subset.not_ready).push_back(address_of(service, *pod));
  }
  Json list = Json::array();
  for (auto& [key, subset] : subsets) {
    Json one = Json::object();
    if (!subset.ready.empty()) one.set("addresses", std::move(subset.ready));
    if (!subset.not_ready.empty()) one.set("notReadyAddresses", std::move(subset.not_ready));
    if (!subset.ports.empty()) one.set("ports", std::move(subset.ports));
    list.push_back(std::move(one));
  }
  return list;
}

class EndpointsController final : public Controller {
 public:
  std::string_view name() const override { return "endpoints-controller"; }

  std::vector<Write> writes() const override { return {{resources::kEndpoints, "create update delete"}}; }
  std::vector<Wake> wakes_on() const override {
    const auto own = [](const View&, const Json& object) { return Keys{api::key_of(object)}; };
    return {{resources::kServices, own}, {resources::kEndpoints, own}, services_of_pods()};
  }

  std::vector<IndexBy> indexes() const override { return service_indexes(); }

  Plan step(const View& view, const std::string& key, const Turn&) override {
    Plan plan;
    const Json* service = view.find(resources::kServices, key);
    const Json* endpoints = view.find(resources::kEndpoints, key);
    if (!service || api::is_deleting(*service)) {
      // Only endpoints that we made go with their service.
      if (endpoints && (*endpoints)["metadata"]["annotations"].has(kMade))
        plan.remove(resources::kEndpoints, *endpoints);
      return plan;
    }
    if ((*service)["spec"]["selector"].empty()) return plan;  // somebody else keeps them
    Json subsets = subsets_for(view, *service);
    if (!endpoints) {
      Json made = Json::object({{"apiVersion", "v1"},
                                {"kind", "Endpoints"},
                                {"metadata", Json::object({{"name", api::name_of(*service)},
                                                           {"namespace", api::namespace_of(*service)},
                                                           {"annotations", Json::object({{kMade, "true"}})}})}});
      made.set("subsets", std::move(subsets));
      plan.create(resources::kEndpoints, std::move(made));
    } else if ((*endpoints)["subsets"] != subsets && !((*endpoints)["subsets"].empty() && subsets.empty())) {
      Json changed = *endpoints;
      changed.set("subsets", std::move(subsets));
      plan.update(resources::kEndpoints, std::move(changed));
    }
    return plan;
  }

 private:
  static constexpr std::string_view kMade = "endpoints.volcano.sh/managed";
};

}  // namespace

std::unique_ptr<Controller> make_endpoints_controller() { return std::make_unique<EndpointsController>(); }

}  // namespace controllers::cluster
