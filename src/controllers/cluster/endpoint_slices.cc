// Which slices a service has: an endpoint stays in its slice, so that a change of one pod is a write of one slice.
#include <algorithm>
#include <map>
#include <set>

#include "api/network_resources.h"
#include "base/format.h"
#include "controllers/cluster/cluster.h"
#include "controllers/cluster/service_pods.h"

namespace controllers::cluster {

using api::Json;
namespace resources = api::resources;

namespace {

constexpr std::size_t kEndpointsMax = 100;  // a slice, as the stock controller has it
constexpr std::string_view kManager = "endpointslice-controller.k8s.io";
constexpr std::string_view kMirror = "endpointslicemirroring-controller.k8s.io";
constexpr std::string_view kHeadlessLabel = "service.kubernetes.io/headless";
constexpr std::string_view kSkipMirrorLabel = "endpointslice.kubernetes.io/skip-mirror";

// Endpoints that have the same ports.
struct Group {
  Json ports;
  std::map<std::string, Json> endpoints;  // by identity
};
using Groups = std::map<std::string, Group>;  // by the text of the ports

// The identity of an endpoint while its conditions change.
std::string identity_of(const Json& endpoint) {
  return base::format("{} {}", endpoint["targetRef"]["uid"].as_string(),
                      endpoint["addresses"][std::size_t{0}].as_string());
}

// Equal for equal ports; none are what no list is.
std::string ports_text(const Json& ports) { return ports.empty() ? std::string() : ports.sorted().dump(); }

void add(Groups& groups, Json ports, Json endpoint) {
  Group& group = groups[ports.dump()];
  group.ports = std::move(ports);
  std::string identity = identity_of(endpoint);
  group.endpoints.insert_or_assign(std::move(identity), std::move(endpoint));
}

Json port_json(const Json& name, std::int64_t number, std::string_view protocol, const Json& app_protocol) {
  Json port = Json::object({{"name", name.as_string()}, {"port", number}, {"protocol", protocol}});
  if (!app_protocol.is_null()) port.set("appProtocol", app_protocol);
  return port;
}

Json ports_of(const Json& service, const Json& pod) {
  Json ports = Json::array();
  for (const Json& one : service["spec"]["ports"].items())
    if (const std::int64_t number = target_port(one, pod); number != 0)
      ports.push_back(port_json(one["name"], number, one["protocol"].as_string("TCP"), one["appProtocol"]));
  return ports;
}

Json endpoint_of(const Json& service, const Json& pod) {
  const bool ready = is_ready(pod), ending = api::is_deleting(pod);
  const bool published = service["spec"]["publishNotReadyAddresses"].as_bool();
  Json endpoint = Json::object({{"addresses", Json::array({pod["status"]["podIP"]})},
                                {"conditions", Json::object({{"ready", published || (ready && !ending)},
                                                             {"serving", published || ready},
                                                             {"terminating", ending}})}});
  if (const std::string_view hostname = hostname_in(service, pod); !hostname.empty())
    endpoint.set("hostname", hostname);
  if (!pod["spec"]["nodeName"].as_string().empty()) endpoint.set("nodeName", pod["spec"]["nodeName"]);
  endpoint.set("targetRef", reference_to(pod));
  return endpoint;
}

Groups groups_of_pods(const View& view, const Json& service) {
  Groups groups;
  for (const Json* pod : pods_behind(view, service)) {
    Json ports = ports_of(service, *pod);
    if (ports.empty() && !service["spec"]["ports"].empty()) continue;
    add(groups, std::move(ports), endpoint_of(service, *pod));
  }
  if (groups.empty()) groups["[]"].ports = Json::array();  // an empty slice says that nobody is there
  return groups;
}

Groups groups_of_endpoints(const Json& endpoints) {
  Groups groups;
  for (const Json& subset : endpoints["subsets"].items()) {
    Json ports = Json::array();
    for (const Json& port : subset["ports"].items())
      ports.push_back(
          port_json(port["name"], port["port"].as_int(), port["protocol"].as_string("TCP"), port["appProtocol"]));
    for (const char* list : {"addresses", "notReadyAddresses"})
      for (const Json& address : subset[list].items()) {
        Json endpoint =
            Json::object({{"addresses", Json::array({address["ip"]})},
                          {"conditions", Json::object({{"ready", std::string_view(list) == "addresses"}})}});
        for (const char* field : {"hostname", "nodeName", "targetRef"})
          if (const Json* value = address.find(field)) endpoint.set(field, *value);
        add(groups, ports, std::move(endpoint));
      }
  }
  return groups;
}

Json labels_for(const Json& owner, const Json& service, std::string_view manager) {
  Json labels = owner["metadata"]["labels"].is_object() ? owner["metadata"]["labels"] : Json::object();
  labels.set(resources::kServiceNameLabel, api::name_of(service));
  labels.set(resources::kManagedByLabel, manager);
  if (service["spec"]["clusterIP"].as_string() == "None")
    labels.set(kHeadlessLabel, "");
  else
    labels.erase(kHeadlessLabel);
  return labels;
}

// The slices of one service, old ones and new ones.
class Slices {
 public:
  Slices(Plan& plan, const Json& service, const Json& owner, std::string_view manager,
         const std::vector<const Json*>& present)
      : plan_(plan), service_(service), owner_(owner), manager_(manager), labels_(labels_for(owner, service, manager)) {
    for (const Json* slice : present) {
      names_.insert(std::string(api::name_of(*slice)));
      if (api::label_of(*slice, resources::kManagedByLabel) == manager && !api::is_deleting(*slice))
        present_[ports_text((*slice)["ports"])].push_back(slice);
    }
  }

  void fill(Groups groups) {
    for (auto& [key, group] : groups) fill_group(group);
    for (const auto& [ports, slices] : present_)
      for (const Json* slice : slices)
        if (!kept_.contains(slice)) plan_.remove(resources::kEndpointSlices, *slice);
  }

 private:
  struct Filled {
    const Json* present = nullptr;  // null: it is new
    std::vector<Json> endpoints;
  };

  void fill_group(Group& group) {
    std::vector<Filled> slices;
    for (const Json* slice : present_[ports_text(group.ports)]) {
      Filled filled{slice, {}};
      for (const Json& endpoint : (*slice)["endpoints"].items())
        if (const auto found = group.endpoints.find(identity_of(endpoint)); found != group.endpoints.end()) {
          filled.endpoints.push_back(std::move(found->second));
          group.endpoints.erase(found);
        }
      slices.push_back(std::move(filled));
    }
    std::size_t room = 0;
    for (auto& [identity, endpoint] : group.endpoints) {
      while (room < slices.size() && slices[room].endpoints.size() >= kEndpointsMax) ++room;
      if (room == slices.size()) slices.emplace_back();
      slices[room].endpoints.push_back(std::move(endpoint));
    }
    // One that is empty stays only where it says that nobody is there.
    if (slices.empty()) slices.emplace_back();
    bool any = std::ranges::any_of(slices, [](const Filled& one) { return !one.endpoints.empty(); });
    for (Filled& one : slices) {
      if (one.endpoints.empty() && any) continue;
      any = true;
      write(one, group.ports);
    }
  }

  void write(Filled& filled, const Json& ports) {
    Json endpoints = Json::array();
    for (Json& endpoint : filled.endpoints) endpoints.push_back(std::move(endpoint));
    if (filled.present != nullptr) {
      kept_.insert(filled.present);
      const Json& before = *filled.present;
      const bool same = before["endpoints"] == endpoints || (before["endpoints"].empty() && endpoints.empty());
      if (same && before["metadata"]["labels"] == labels_) return;
      Json changed = before;
      changed.set("endpoints", std::move(endpoints));
      changed.edit("metadata").set("labels", labels_);
      plan_.update(resources::kEndpointSlices, std::move(changed));
      return;
    }
    Json made = Json::object({{"apiVersion", "discovery.k8s.io/v1"},
                              {"kind", "EndpointSlice"},
                              {"metadata", Json::object({{"name", free_name()},
                                                         {"namespace", api::namespace_of(service_)},
                                                         {"labels", labels_},
                                                         {"ownerReferences", Json::array({owner_reference()})}})},
                              {"addressType", "IPv4"},
                              {"endpoints", std::move(endpoints)}});
    made.set("ports", ports);
    plan_.create(resources::kEndpointSlices, std::move(made));
  }

  Json owner_reference() const {
    const bool mirrors = manager_ == kMirror;
    return Json::object({{"apiVersion", "v1"},
                         {"kind", mirrors ? "Endpoints" : "Service"},
                         {"name", api::name_of(owner_)},
                         {"uid", api::uid_of(owner_)},
                         {"controller", true},
                         {"blockOwnerDeletion", true}});
  }

  // From the owner's uid and a number, so that a repeated step makes no second slice.
  std::string free_name() {
    const std::string_view uid = api::uid_of(owner_);
    const std::string_view head = uid.substr(0, std::min<std::size_t>(uid.size(), 5));
    for (;;) {
      std::string name = base::format("{}-{}{}", api::name_of(service_), head, next_number_++);
      if (names_.insert(name).second) return name;
    }
  }

  Plan& plan_;
  const Json& service_;
  const Json& owner_;
  std::string_view manager_;
  Json labels_;
  std::map<std::string, std::vector<const Json*>> present_;  // by the text of the ports
  std::set<const Json*> kept_;
  std::set<std::string> names_;
  int next_number_ = 0;
};

class EndpointSliceController final : public Controller {
 public:
  std::string_view name() const override { return "endpointslice-controller"; }

  std::vector<Write> writes() const override { return {{resources::kEndpointSlices, "create update delete"}}; }
  std::vector<Wake> wakes_on() const override {
    const auto own = [](const View&, const Json& object) { return Keys{api::key_of(object)}; };
    return {{resources::kServices, own},
            {resources::kEndpoints, own},
            {resources::kEndpointSlices, [](const View&, const Json& slice) { return key_of_slice(slice); }},
            services_of_pods()};
  }

  std::vector<IndexBy> indexes() const override {
    std::vector<IndexBy> all = service_indexes();
    all.push_back({resources::kEndpointSlices, "service", key_of_slice});
    return all;
  }

  Plan step(const View& view, const std::string& key, const Turn&) override {
    Plan plan;
    const Json* service = view.find(resources::kServices, key);
    const std::vector<const Json*> present = view.by_index(resources::kEndpointSlices, "service", key);
    if (!service || api::is_deleting(*service) || (*service)["spec"]["type"].as_string() == "ExternalName") {
      static const Json kNobody;
      for (const std::string_view manager : {kManager, kMirror})
        Slices(plan, service ? *service : kNobody, kNobody, manager, present).fill({});
      return plan;
    }
    const bool selected = !(*service)["spec"]["selector"].empty();
    Slices(plan, *service, *service, kManager, present).fill(selected ? groups_of_pods(view, *service) : Groups());
    const Json* endpoints = view.find(resources::kEndpoints, key);
    const bool mirrored = !selected && endpoints != nullptr && api::label_of(*endpoints, kSkipMirrorLabel) != "true";
    Slices(plan, *service, mirrored ? *endpoints : *service, kMirror, present)
        .fill(mirrored ? groups_of_endpoints(*endpoints) : Groups());
    return plan;
  }

 private:
  static Keys key_of_slice(const Json& slice) {
    const std::string_view service = api::label_of(slice, resources::kServiceNameLabel);
    if (service.empty()) return {};
    return {base::format("{}/{}", api::namespace_of(slice), service)};
  }
};

}  // namespace

std::unique_ptr<Controller> make_endpoint_slice_controller() { return std::make_unique<EndpointSliceController>(); }

}  // namespace controllers::cluster
