// The address of Services of type LoadBalancer on one machine: the machine's own, at ports that nobody else has.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "api/meta/resource.h"
#include "api/network_resources.h"
#include "base/format.h"
#include "controllers/cluster/cluster.h"

namespace controllers::cluster {

using api::Json;
namespace resources = api::resources;

namespace {

constexpr const char* kKey = "services";

// One that names a class waits for whoever serves that class.
bool is_ours(const Json& service) {
  return service["spec"]["type"].as_string() == "LoadBalancer" &&
         service["spec"]["loadBalancerClass"].as_string().empty();
}
bool has_address(const Json& service) { return !service["status"]["loadBalancer"]["ingress"].empty(); }
bool is_of_others(const Json& service) { return !service["spec"]["loadBalancerClass"].as_string().empty(); }

std::string address_of(const Json& node) {
  for (const Json& one : node["status"]["addresses"].items())
    if (one["type"].as_string() == "InternalIP") return one["address"].str();
  return {};
}

// The ports of this machine, and who has them.
class Ports {
 public:
  void take_node_ports(const Json& service) {
    for (const Json& port : service["spec"]["ports"].items())
      if (const std::int64_t number = port["nodePort"].as_int(); number > 0)
        owners_.emplace(key(port, number), api::key_of(service));
  }
  // All of a service's ports, or none: why not.
  std::string take(const Json& service) {
    const std::string own = api::key_of(service);
    for (const Json& port : service["spec"]["ports"].items())
      if (const auto taken = owners_.find(key(port, port["port"].as_int()));
          taken != owners_.end() && taken->second != own)
        return base::format("port {} ({}) of this machine is that of Service {}", port["port"].as_int(),
                            port["protocol"].as_string("TCP"), taken->second);
    for (const Json& port : service["spec"]["ports"].items()) owners_.emplace(key(port, port["port"].as_int()), own);
    return {};
  }

 private:
  static std::pair<std::string, std::int64_t> key(const Json& port, std::int64_t number) {
    return {std::string(port["protocol"].as_string("TCP")), number};
  }
  std::map<std::pair<std::string, std::int64_t>, std::string> owners_;
};

class LoadBalancerController final : public Controller {
 public:
  explicit LoadBalancerController(std::string node_name) : node_name_(std::move(node_name)) {}
  std::string_view name() const override { return "service-lb-controller"; }

  std::vector<Write> writes() const override { return {{resources::kServices, "update", "status"}}; }
  std::vector<Wake> wakes_on() const override {
    return {{resources::kServices,
             [](const View&, const Json& service) {
               const std::string_view type = service["spec"]["type"].as_string();
               return type == "LoadBalancer" || type == "NodePort" || has_address(service) ? Keys{kKey} : Keys{};
             }},
            {resources::kNodes, [](const View&, const Json&) { return Keys{kKey}; },
             [](const Json* before, const Json* after) {
               return before == nullptr || after == nullptr || address_of(*before) != address_of(*after);
             }}};
  }

  Plan step(const View& view, const std::string&, const Turn&) override {
    Plan plan;
    const Json* node = view.find(resources::kNodes, node_name_);
    const std::string address = node != nullptr ? address_of(*node) : std::string();
    if (address.empty()) return plan;
    std::vector<const Json*> services = view.all(resources::kServices), balanced;
    Ports ports;
    for (const Json* service : services) {
      ports.take_node_ports(*service);
      if (is_ours(*service) && !api::is_deleting(*service)) balanced.push_back(service);
    }
    // The oldest has a port that several want.
    std::ranges::stable_sort(balanced, {}, [](const Json* one) {
      return std::pair((*one)["metadata"]["creationTimestamp"].str(), api::key_of(*one));
    });
    std::map<std::string, std::string> refused;
    std::set<const Json*> granted;
    for (const Json* service : balanced) {
      std::string why;
      if (!(*service)["spec"]["loadBalancerSourceRanges"].empty())
        why = "spec.loadBalancerSourceRanges: this machine opens a port to everybody or to nobody";
      else
        why = ports.take(*service);
      if (why.empty()) {
        granted.insert(service);
        continue;
      }
      const std::string uid(api::uid_of(*service));
      if (const auto reported = reported_.find(uid); reported == reported_.end() || reported->second != why)
        plan.event(*service, "Warning", "LoadBalancerPending", why);
      refused.emplace(uid, std::move(why));
    }
    reported_ = std::move(refused);
    for (const Json* service : services)
      if (!is_of_others(*service)) write(plan, *service, granted.contains(service) ? address : std::string());
    return plan;
  }

 private:
  static void write(Plan& plan, const Json& service, const std::string& address) {
    if (address.empty() && !has_address(service)) return;
    Json wanted = Json::object();
    if (!address.empty()) wanted.set("ingress", Json::array({Json::object({{"ip", address}, {"ipMode", "VIP"}})}));
    if (service["status"]["loadBalancer"] == wanted) return;
    Json changed = service;
    changed.edit("status").set("loadBalancer", std::move(wanted));
    plan.set_status(resources::kServices, std::move(changed)).stops_nothing = true;
  }

  std::string node_name_;
  std::map<std::string, std::string> reported_;  // by uid: why one has no address
};

}  // namespace

std::unique_ptr<Controller> make_load_balancer_controller(std::string node_name) {
  return std::make_unique<LoadBalancerController>(std::move(node_name));
}

}  // namespace controllers::cluster
