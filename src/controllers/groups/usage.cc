// Effective requests of a pod follow Kubernetes: containers and sidecars together, or the largest step of the init
// containers with the sidecars started before it, plus the pod's overhead; pod-level resources win where given.
#include "controllers/groups/usage.h"

#include "api/pod_requests.h"

namespace controllers {

using api::Json;
using api::Quantity;
using api::ResourceList;

namespace {

// `side` is "requests" or "limits".
ResourceList effective(const Json& spec, std::string_view side) {
  ResourceList sum = api::pod_total(spec, side);
  const ResourceList overhead = api::resource_list_from(spec["overhead"]);
  if (side == "requests") {
    api::add(sum, overhead);
  } else {
    for (const auto& [name, quantity] : overhead)
      if (const auto found = sum.find(name); found != sum.end()) found->second += quantity;
  }
  return sum;
}

bool is_native(std::string_view name) { return name == "cpu" || name == "memory" || name == "ephemeral-storage"; }

}  // namespace

ResourceList quota_usage(const Json& spec) {
  ResourceList usage;
  usage["count/pods"] = Quantity::from_int(1);
  usage["pods"] = Quantity::from_int(1);
  for (const auto& [name, quantity] : effective(spec, "requests")) {
    usage[name] = quantity;
    usage["requests." + name] = quantity;
  }
  for (const auto& [name, quantity] : effective(spec, "limits"))
    if (is_native(name)) usage["limits." + name] = quantity;
  return usage;
}

}  // namespace controllers
