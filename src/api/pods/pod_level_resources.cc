// Resources of a pod as a whole (spec.resources) against those of its containers, as the API server judges pods.
#include "api/pod_requests.h"
#include "api/pods/parts.h"
#include "api/schema/quantity.h"
#include "base/format.h"

namespace api {

namespace {

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
  const ResourceList limits = resource_list_from(resources["limits"]);
  check_covered(containers_total(spec, "requests"), resource_list_from(resources["requests"]), in(path, "requests"),
                "requests", errors);
  ResourceList huge = containers_total(spec, "limits");
  std::erase_if(huge, [](const auto& entry) { return !entry.first.starts_with("hugepages-"); });
  check_covered(huge, limits, in(path, "limits"), "limits", errors);
  const auto containers = spec["containers"].items();
  for (std::size_t i = 0; i < containers.size(); ++i)
    for (const auto& [name, amount] : resource_list_from(containers[i]["resources"]["limits"])) {
      const auto found = limits.find(name);
      if (found == limits.end() || amount <= found->second) continue;
      // The path is Kubernetes' own: below the pod's resources.
      errors.invalid(in(under(at(in(path, "containers"), i), name), "limits"), amount.to_json(),
                     base::format("must be less than or equal to pod limits of {}", found->second.to_string()));
    }
}

}  // namespace api
