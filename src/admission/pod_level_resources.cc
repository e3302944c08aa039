// Resources of a pod as a whole (spec.resources) against those of its containers, as the API server judges pods.
#include <algorithm>
#include <array>

#include "admission/pod_template.h"
#include "api/schema/quantity.h"
#include "base/format.h"

namespace admission {

using api::Json;
using api::ResourceList;

namespace {

void add(ResourceList& to, const ResourceList& list) {
  for (const auto& [name, amount] : list) {
    const auto [slot, fresh] = to.try_emplace(name, amount);
    if (!fresh) slot->second += amount;
  }
}
void raise(ResourceList& to, const ResourceList& list) {
  for (const auto& [name, amount] : list) {
    const auto [slot, fresh] = to.try_emplace(name, amount);
    if (!fresh) slot->second = std::max(slot->second, amount);
  }
}

// What all containers have together at the most demanding moment: init containers run one after the other, beside the
// sidecars that were started before them; then the sidecars and the containers run together.
ResourceList aggregate(const Json& spec, std::string_view side) {
  ResourceList running, sidecars, starting;
  for (const Json& container : spec["containers"].items())
    add(running, api::resource_list_from(container["resources"][side]));
  for (const Json& container : spec["initContainers"].items()) {
    ResourceList own = api::resource_list_from(container["resources"][side]);
    if (container["restartPolicy"].str() == "Always") {
      add(running, own);
      add(sidecars, own);
      own = sidecars;
    } else {
      add(own, sidecars);
    }
    raise(starting, own);
  }
  raise(running, starting);
  return running;
}

void check_covered(const ResourceList& needed, const ResourceList& given, const std::string& path,
                   std::string_view what, FieldErrors& errors) {
  for (const auto& [name, amount] : needed) {
    const auto found = given.find(name);
    if (found == given.end() || amount <= found->second) continue;
    errors.invalid(
        under(path, name), found->second.to_json(),
        base::format("must be greater than or equal to aggregate container {} of {}", what, amount.to_string()));
  }
}

}  // namespace

void check_pod_level_resources(const Json& spec, const std::string& path, FieldErrors& errors) {
  const Json& resources = spec["resources"];
  if (!resources.is_object()) return;
  if (spec["os"]["name"].str() == "windows") return errors.forbidden(path, "may not be set for a windows pod");
  check_resources(resources, path, ResourcesOf::kPod, errors);
  const ResourceList limits = api::resource_list_from(resources["limits"]);
  check_covered(aggregate(spec, "requests"), api::resource_list_from(resources["requests"]), in(path, "requests"),
                "requests", errors);
  ResourceList huge = aggregate(spec, "limits");
  std::erase_if(huge, [](const auto& entry) { return !entry.first.starts_with("hugepages-"); });
  check_covered(huge, limits, in(path, "limits"), "limits", errors);
  const auto containers = spec["containers"].items();
  for (std::size_t i = 0; i < containers.size(); ++i)
    for (const auto& [name, amount] : api::resource_list_from(containers[i]["resources"]["limits"])) {
      const auto found = limits.find(name);
      if (found == limits.end() || amount <= found->second) continue;
      // The path is Kubernetes' own: below the pod's resources.
      errors.invalid(in(under(at(in(path, "containers"), i), name), "limits"), amount.to_json(),
                     base::format("must be less than or equal to pod limits of {}", found->second.to_string()));
    }
}

}  // namespace admission
