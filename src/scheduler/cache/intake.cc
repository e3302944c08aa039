// API objects in, the model kept current.
#include "scheduler/cache/intake.h"

#include <cstdint>

#include "scheduler/cache/intake_objects.h"
#include "scheduler/cache/read_resources.h"

namespace scheduler {

Intake::Intake(Model& model, Ledger& ledger, IntakeOptions options)
    : model_(model),
      options_(std::move(options)),
      pods(model, ledger, options_),
      groups(model, ledger, options_),
      queues(model, ledger),
      shard(model, ledger, options_) {
  model_.gates = options_.gates;
  model_.shards.mode = options_.sharding_mode;
  model_.shards.own_name = options_.sharding_name;
  model_.shards.claims_first = options_.claims_nodes && options_.sharding_mode == ShardingMode::kHard;
  model_.volumes.reads_capacities = options_.csi_storage;
}

bool Intake::set(const api::ResourceId& id, const api::Json& object) {
  if (api::name_of(object).empty())
    return false;  // an API server has none such, a file may: an empty name means none here
  if (id == api::resources::kPods) return pods.set(object);
  if (id == api::resources::kNodes) return set_node(model_, options_, object);
  if (id == api::resources::kPodGroups) return groups.set(object);
  if (id == api::resources::kQueues) return queues.set(object);
  if (!is_switched_on(id, options_)) return false;  // it is not watched, but a file may hold it
  if (id == api::resources::kPriorityClasses) return set_priority_class(object, true);
  if (id == api::resources::kHyperNodes) return model_.hyper_nodes.set(api::name_of(object), object);
  if (id == api::resources::kNamespaces) {
    model_.pods.set_namespace_labels(model_.symbols.intern(api::name_of(object)),
                                     labels_from(object["metadata"]["labels"], model_.symbols));
    model_.settle_matchers();
    return true;
  }
  if (set_workload(model_, id, object, true)) return false;  // only wishes where to be: no pod waits for it
  return set_facts(id, object, true);
}

bool Intake::remove(const api::ResourceId& id, const api::Json& object) {
  if (api::name_of(object).empty()) return false;
  if (id == api::resources::kPods) return pods.remove(object);
  if (id == api::resources::kNodes) return remove_node(model_, object);
  if (id == api::resources::kPodGroups) return groups.remove(object);
  if (id == api::resources::kQueues) return queues.remove(object);
  if (!is_switched_on(id, options_)) return false;
  if (id == api::resources::kPriorityClasses) return set_priority_class(object, false);
  if (id == api::resources::kHyperNodes) return model_.hyper_nodes.remove(api::name_of(object));
  if (set_workload(model_, id, object, false)) return false;
  return set_facts(id, object, false);
}

bool Intake::set_facts(const api::ResourceId& id, const api::Json& object, bool exists) {
  if (set_devices(model_, id, object, exists)) {
    if (exists && options_.single_pods && id.plural == api::resources::kResourceClaims.plural)
      pods.claim_came(api::key_of(object));
    return true;
  }
  const bool is_shard = id == api::resources::kNodeShards && options_.sharding_mode != ShardingMode::kNone;
  if (is_shard && (exists ? shard.set(object) : shard.remove(object))) return true;
  return set_policy(model_, id, object, exists) || set_storage(model_, id, object, exists);
}

bool Intake::set_answer(const api::ResourceId& id, const api::Json& object) {
  if (id == api::resources::kPods) return pods.takes_answer(object) && pods.set(object);
  if (id == api::resources::kQueues) return queues.takes_answer(object) && queues.set(object);
  return id == api::resources::kPodGroups && groups.takes_answer(object) && groups.set(object);
}

bool Intake::set_priority_class(const api::Json& object, bool exists) {
  const std::string name(api::name_of(object));
  const auto value = static_cast<std::int32_t>(object["value"].as_int());
  if (exists)
    model_.priority_classes.insert_or_assign(name, value);
  else
    model_.priority_classes.erase(name);
  if (exists && object["globalDefault"].as_bool()) {
    model_.default_priority = value;
    default_priority_class_ = name;
  } else if (default_priority_class_ == name) {
    model_.default_priority.reset();
    default_priority_class_.clear();
  }
  model_.refresh_all_priorities();
  return true;
}

}  // namespace scheduler
