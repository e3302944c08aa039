// API objects in, the model kept current: resource claims, device classes, resource slices, layouts of CPUs.
#include "scheduler/cache/intake_objects.h"

namespace scheduler {

bool set_devices(Model& model, const api::ResourceId& id, const api::Json& object, bool exists) {
  ResourceClaims& claims = model.claims;
  if (id.group == "resource.k8s.io" && id.plural == "resourceclaims") {
    if (exists)
      claims.set_claim(object, model.symbols);
    else
      claims.remove_claim(api::key_of(object));
  } else if (id.group == "resource.k8s.io" && id.plural == "deviceclasses") {
    if (exists)
      claims.set_class(object);
    else
      claims.remove_class(api::name_of(object));
  } else if (id.group == "resource.k8s.io" && id.plural == "resourceslices") {
    if (exists)
      claims.set_slice(object, model.symbols);
    else
      claims.remove_slice(api::name_of(object));
  } else if (id == api::resources::kNumatopologies) {
    const bool adds_facts = exists && model.numa.set(object);
    if (!exists) model.numa.remove(api::name_of(object));
    if (const NodeId node = model.nodes.find(api::name_of(object)); node.is_set()) {
      // The node's agent knows the CPUs of the pods that it has; it has not seen those that are being bound.
      for (const TaskId task : model.nodes[node].tasks) {
        if (adds_facts && model.task(task).status != TaskStatus::kBinding) model.devices.forget_cpus(task);
      }
      model.node_facts_changed(node);
    }
  } else if (id == api::resources::kConfigMaps) {
    // Only those that describe devices: the others may be many, and large.
    const std::string_view name = api::name_of(object);
    const bool describes =
        object["data"].has("device-config.yaml") || name.starts_with("mindx-dl-") || name.starts_with("cluster-info-");
    const std::string key = api::key_of(object);
    return exists && describes ? model.devices.configs.set(key, object["data"]) : model.devices.configs.remove(key);
  } else {
    return false;
  }
  return true;
}

}  // namespace scheduler
