// Which addresses stand behind a service: the pods its selector finds.
#include <map>

#include "api/resource.h"
#include "base/format.h"
#include "controllers/cluster/cluster.h"

namespace controllers::cluster {

using api::Json;
namespace resources = api::resources;

namespace {

bool is_ready(const Json& pod) {
  for (const Json& condition : pod["status"]["conditions"].items())
    if (condition["type"].as_string() == "Ready") return condition["status"].as_string() == "True";
  return false;
}

bool is_over(const Json& pod) {
  const std::string_view phase = pod["status"]["phase"].as_string();
  return phase == "Succeeded" || phase == "Failed";
}

bool selects(const Json& selector, const Json& pod) {
  for (const Json::Member& label : selector.members())
    if (api::label_of(pod, label.name()) != label.value.as_string()) return false;
  return true;
}

Json address_of(const Json& service, const Json& pod) {
  Json address = Json::object({{"ip", pod["status"]["podIP"]}});
  if (pod["spec"]["subdomain"].as_string() == api::name_of(service) && !pod["spec"]["hostname"].as_string().empty())
    address.set("hostname", pod["spec"]["hostname"]);
  if (!pod["spec"]["nodeName"].as_string().empty()) address.set("nodeName", pod["spec"]["nodeName"]);
  address.set("targetRef", Json::object({{"kind", "Pod"},
                                         {"name", api::name_of(pod)},
                                         {"namespace", api::namespace_of(pod)},
                                         {"uid", api::uid_of(pod)}}));
  return address;
}

// The number behind a target port; 0 if the pod does not name it.
std::int64_t port_number(const Json& service_port, const Json& pod) {
  const Json& target = service_port["targetPort"];
  if (target.is_number()) return target.as_int();
  if (!target.is_string()) return service_port["port"].as_int();
  for (const Json& container : pod["spec"]["containers"].items())
    for (const Json& port : container["ports"].items())
      if (port["name"].as_string() == target.as_string()) return port["containerPort"].as_int();
  return 0;
}

Json ports_for(const Json& service, const Json& pod) {
  Json ports = Json::array();
  for (const Json& one : service["spec"]["ports"].items()) {
    const std::int64_t number = port_number(one, pod);
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
  for (const Json* pod : view.by_index(resources::kPods, "namespace", api::namespace_of(service))) {
    if (!selects(service["spec"]["selector"], *pod) || (*pod)["status"]["podIP"].as_string().empty()) continue;
    if (is_over(*pod) || (api::is_deleting(*pod) && !publish_all)) continue;
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

  std::vector<Wake> wakes_on() const override {
    const auto own = [](const View&, const Json& object) { return Keys{api::key_of(object)}; };
    return {{resources::kServices, own},
            {resources::kEndpoints, own},
            {resources::kPods, [](const View& view, const Json& pod) {
               Keys keys;
               for (const Json* service : view.by_index(resources::kServices, "namespace", api::namespace_of(pod)))
                 if (!(*service)["spec"]["selector"].empty() && selects((*service)["spec"]["selector"], pod))
                   keys.push_back(api::key_of(*service));
               return keys;
             }}};
  }

  std::vector<IndexBy> indexes() const override {
    const auto space = [](const Json& object) { return Keys{std::string(api::namespace_of(object))}; };
    return {{resources::kPods, "namespace", space}, {resources::kServices, "namespace", space}};
  }

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
