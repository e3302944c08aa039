// Sums over containers.
#include "api/pod_requests.h"

#include <map>
#include <string_view>

namespace api {

void add(ResourceList& sum, const ResourceList& more) {
  for (const auto& [name, quantity] : more) {
    const auto [slot, fresh] = sum.try_emplace(name, quantity);
    if (!fresh) slot->second += quantity;
  }
}

void raise(ResourceList& list, const ResourceList& other) {
  for (const auto& [name, quantity] : other) {
    const auto [slot, fresh] = list.try_emplace(name, quantity);
    if (!fresh && slot->second < quantity) slot->second = quantity;
  }
}

namespace {

bool is_sidecar(const Json& init_container) { return init_container["restartPolicy"].as_string() == "Always"; }

// `amounts_of` gives those of one container.
template <class AmountsOf>
ResourceList total(const Json& pod_spec, const AmountsOf& amounts_of) {
  ResourceList sum;
  for (const Json& container : pod_spec["containers"].items()) add(sum, amounts_of(container, "containerStatuses"));
  ResourceList sidecars;
  ResourceList largest_step;
  for (const Json& container : pod_spec["initContainers"].items()) {
    const bool sidecar = is_sidecar(container);
    // The grants of an init container count no more when it has ended.
    const ResourceList own = amounts_of(container, sidecar ? "initContainerStatuses" : "");
    // A resource that it does not ask for has the step of the one that began the last sidecar.
    ResourceList step = own;
    for (auto& [name, quantity] : step)
      if (const auto found = sidecars.find(name); found != sidecars.end()) quantity += found->second;
    raise(largest_step, step);
    if (sidecar) add(sidecars, own);
  }
  add(sum, sidecars);
  raise(sum, largest_step);
  return sum;
}

// A status can say anything; less than nothing takes nothing away from others.
ResourceList not_negative(ResourceList list) {
  std::erase_if(list, [](const auto& row) { return row.second.sign() < 0; });
  return list;
}

}  // namespace

ResourceList containers_total(const Json& pod_spec, std::string_view side) {
  return total(pod_spec, [side](const Json& container, std::string_view) {
    return resource_list_from(container["resources"][side]);
  });
}

bool is_pod_level(std::string_view resource) {
  return resource == "cpu" || resource == "memory" || resource.starts_with("hugepages-");
}

bool has_pod_level_resources(const Json& pod_spec) {
  for (const char* side : {"requests", "limits"})
    for (const Json::Member& amount : pod_spec["resources"][side].members())
      if (is_pod_level(amount.name())) return true;
  return false;
}

ResourceList pod_total(const Json& pod_spec, std::string_view side) {
  ResourceList sum = containers_total(pod_spec, side);
  for (const auto& [name, amount] : resource_list_from(pod_spec["resources"][side]))
    if (is_pod_level(name)) sum[name] = amount;
  return sum;
}

ResourceList pod_in_use(const Json& pod, std::string_view side) {
  ResourceList sum = containers_in_use(pod, side);
  const Json& status = pod["status"];
  ResourceList had = not_negative(resource_list_from(status["resources"][side]));
  if (side == "requests") raise(had, not_negative(resource_list_from(status["allocatedResources"])));
  const bool infeasible = status["resources"].is_object() && is_resize_infeasible(pod);
  for (const auto& [name, amount] : resource_list_from(pod["spec"]["resources"][side])) {
    if (!is_pod_level(name)) continue;
    const auto held = had.find(name);
    sum[name] = held != had.end() && (infeasible || held->second > amount) ? held->second : amount;
  }
  return sum;
}

bool is_resize_infeasible(const Json& pod) {
  for (const Json& condition : pod["status"]["conditions"].items())
    if (condition["type"].as_string() == "PodResizePending") return condition["reason"].as_string() == "Infeasible";
  return false;
}

ResourceList containers_in_use(const Json& pod, std::string_view side) {
  const bool infeasible = is_resize_infeasible(pod);
  std::map<std::string_view, std::multimap<std::string_view, const Json*>> by_name;
  for (const std::string_view list : {"containerStatuses", "initContainerStatuses"})
    for (const Json& status : pod["status"][list].items())
      if (status["resources"].is_object()) by_name[list].emplace(status["name"].as_string(), &status);
  return total(pod["spec"], [&](const Json& container, std::string_view statuses) {
    ResourceList asked = resource_list_from(container["resources"][side]);
    const auto [first, end] = by_name[statuses].equal_range(container["name"].as_string());
    for (auto status = first; status != end; ++status) {
      ResourceList had = not_negative(resource_list_from((*status->second)["resources"][side]));
      if (side == "requests") raise(had, not_negative(resource_list_from((*status->second)["allocatedResources"])));
      if (infeasible) return had;
      raise(asked, had);
    }
    return asked;
  });
}

namespace {

struct ClassOfService {
  bool any = false;
  bool guaranteed = true;

  void see(const Json& resources) {
    const ResourceList requests = resource_list_from(resources["requests"]);
    const ResourceList limits = resource_list_from(resources["limits"]);
    for (const char* name : {"cpu", "memory"}) {
      const auto request = requests.find(name);
      const auto limit = limits.find(name);
      const bool has_limit = limit != limits.end() && !limit->second.is_zero();
      any = any || has_limit || (request != requests.end() && !request->second.is_zero());
      if (!has_limit || (request != requests.end() && !(request->second == limit->second))) guaranteed = false;
    }
  }
};

}  // namespace

std::string_view qos_class(const Json& pod_spec) {
  ClassOfService all;
  if (has_pod_level_resources(pod_spec)) {
    all.see(pod_spec["resources"]);
  } else {
    for (const char* list : {"containers", "initContainers"})
      for (const Json& container : pod_spec[list].items()) all.see(container["resources"]);
  }
  if (!all.any) return "BestEffort";
  return all.guaranteed ? "Guaranteed" : "Burstable";
}

}  // namespace api
