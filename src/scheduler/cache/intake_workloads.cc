// API objects in, the model kept current: services and the controllers that own pods.
#include "scheduler/cache/intake_objects.h"

namespace scheduler {

bool set_workload(Model& model, const api::ResourceId& id, const api::Json& object, bool exists) {
  std::string_view kind;
  if (id == api::resources::kReplicationControllers)
    kind = "ReplicationController";
  else if (id == api::resources::kReplicaSets)
    kind = "ReplicaSet";
  else if (id == api::resources::kStatefulSets)
    kind = "StatefulSet";
  else if (id != api::resources::kServices)
    return false;
  const std::string key = api::key_of(object);
  if (!exists) {
    model.workloads.remove(kind, key);
    return true;
  }
  const api::Json& selector = object["spec"]["selector"];
  // Services and replication controllers select by plain labels; without any, a service selects nothing.
  const bool plain = kind.empty() || kind == "ReplicationController";
  model.workloads.set(
      kind, key, label_selector_from(plain ? api::Json::object({{"matchLabels", selector}}) : selector, model.symbols));
  return true;
}

}  // namespace scheduler
