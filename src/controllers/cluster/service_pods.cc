// The parts of pods that controllers of services read.
#include "controllers/cluster/service_pods.h"

#include "api/meta/resource.h"

namespace controllers::cluster {

using api::Json;
namespace resources = api::resources;

bool is_ready(const Json& pod) {
  for (const Json& condition : pod["status"]["conditions"].items())
    if (condition["type"].as_string() == "Ready") return condition["status"].as_string() == "True";
  return false;
}

bool is_over(const Json& pod) {
  const std::string_view phase = pod["status"]["phase"].as_string();
  return phase == "Succeeded" || phase == "Failed";
}

bool selects(const Json& service, const Json& pod) {
  const Json& selector = service["spec"]["selector"];
  if (selector.empty()) return false;
  for (const Json::Member& label : selector.members())
    if (api::label_of(pod, label.name()) != label.value.as_string()) return false;
  return true;
}

std::vector<const Json*> pods_behind(const View& view, const Json& service) {
  std::vector<const Json*> pods;
  for (const Json* pod : view.by_index(resources::kPods, "namespace", api::namespace_of(service)))
    if (selects(service, *pod) && !(*pod)["status"]["podIP"].as_string().empty() && !is_over(*pod)) pods.push_back(pod);
  return pods;
}

std::int64_t target_port(const Json& service_port, const Json& pod) {
  const Json& target = service_port["targetPort"];
  if (target.is_number()) return target.as_int();
  if (!target.is_string()) return service_port["port"].as_int();
  const std::string_view protocol = service_port["protocol"].as_string("TCP");
  for (const char* list : {"containers", "initContainers"})
    for (const Json& container : pod["spec"][list].items())
      for (const Json& port : container["ports"].items())
        if (port["name"].as_string() == target.as_string() && port["protocol"].as_string("TCP") == protocol)
          return port["containerPort"].as_int();
  return 0;
}

Json reference_to(const Json& pod) {
  return Json::object(
      {{"kind", "Pod"}, {"name", api::name_of(pod)}, {"namespace", api::namespace_of(pod)}, {"uid", api::uid_of(pod)}});
}

std::string_view hostname_in(const Json& service, const Json& pod) {
  if (pod["spec"]["subdomain"].as_string() != api::name_of(service)) return {};
  return pod["spec"]["hostname"].as_string();
}

Wake services_of_pods() {
  return {resources::kPods, [](const View& view, const Json& pod) {
            Keys keys;
            for (const Json* service : view.by_index(resources::kServices, "namespace", api::namespace_of(pod)))
              if (selects(*service, pod)) keys.push_back(api::key_of(*service));
            return keys;
          }};
}

std::vector<IndexBy> service_indexes() {
  const auto space = [](const Json& object) { return Keys{std::string(api::namespace_of(object))}; };
  return {{resources::kPods, "namespace", space}, {resources::kServices, "namespace", space}};
}

}  // namespace controllers::cluster
