// Sums over containers.
#include "api/pod_requests.h"

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

ResourceList containers_total(const Json& pod_spec, std::string_view side) {
  ResourceList sum;
  for (const Json& container : pod_spec["containers"].items())
    add(sum, resource_list_from(container["resources"][side]));
  ResourceList sidecars;
  ResourceList largest_step;
  for (const Json& container : pod_spec["initContainers"].items()) {
    const ResourceList own = resource_list_from(container["resources"][side]);
    ResourceList step = sidecars;
    add(step, own);
    raise(largest_step, step);
    if (container["restartPolicy"].as_string() == "Always") add(sidecars, own);
  }
  add(sum, sidecars);
  raise(sum, largest_step);
  return sum;
}

}  // namespace api
