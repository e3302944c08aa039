// The resources that a scheduler reads.
#include "scheduler/cache/read_resources.h"

namespace scheduler {

const std::vector<api::ResourceId>& read_resources() {
  static const std::vector<api::ResourceId> kResources = {
      api::resources::kPriorityClasses,
      api::resources::kNamespaces,
      api::resources::kQueues,
      api::resources::kStorageClasses,
      api::resources::kPersistentVolumes,
      api::resources::kPersistentVolumeClaims,
      api::resources::kHyperNodes,
      api::resources::kCsiNodes,
      api::resources::kCsiDrivers,
      api::resources::kCsiStorageCapacities,
      api::resources::kVolumeAttachments,
      api::resources::kServices,
      api::resources::kReplicationControllers,
      api::resources::kReplicaSets,
      api::resources::kStatefulSets,
      api::resources::kDeviceClasses,
      api::resources::kResourceSlices,
      api::resources::kResourceClaims,
      api::resources::kNumatopologies,
      api::resources::kNodes,
      api::resources::kPodGroups,
      api::resources::kPods,
  };
  return kResources;
}

bool may_be_absent(const api::ResourceId& id) {
  return id == api::resources::kConfigMaps || id.group == "storage.k8s.io" || id.group == "apps" ||
         id.group == "topology.volcano.sh" || id.group == "shard.volcano.sh" || id.group == "policy" ||
         id.group == "resource.k8s.io" || id.group == "nodeinfo.volcano.sh" || id == api::resources::kServices ||
         id == api::resources::kReplicationControllers;
}

bool is_switched_on(const api::ResourceId& id, const IntakeOptions& options) {
  if (id == api::resources::kPriorityClasses) return options.priority_classes;
  if (id == api::resources::kNumatopologies) return options.gates.on("ResourceTopology");
  if (id == api::resources::kReplicationControllers || id.group == "apps") return options.gates.on("WorkLoadSupport");
  // Limits of attachments need CSINodes and VolumeAttachments, whatever --csi-storage says.
  if (id == api::resources::kCsiDrivers || id == api::resources::kCsiStorageCapacities) return options.csi_storage;
  // Not by predicate.DynamicResourceAllocationEnable, which a configuration that is read again may turn on.
  if (id.group == api::resources::kResourceClaims.group) return options.gates.on("DynamicResourceAllocation");
  return true;
}

bool concerns_groups(const api::ResourceId& id) {
  return id == api::resources::kPodGroups || id == api::resources::kQueues || id == api::resources::kPriorityClasses ||
         id == api::resources::kHyperNodes || id == api::resources::kNumatopologies;
}

std::vector<api::ResourceId> watched_resources(const IntakeOptions& options) {
  std::vector<api::ResourceId> out;
  for (const api::ResourceId& id : read_resources())
    if (is_switched_on(id, options) && (!options.single_pods || !concerns_groups(id))) out.push_back(id);
  if (!options.single_pods) out.push_back(api::resources::kResourceQuotas);
  if (!options.single_pods && options.gates.on("PodDisruptionBudgetsSupport"))
    out.push_back(api::resources::kPodDisruptionBudgets);
  if (options.sharding_mode != ShardingMode::kNone) out.push_back(api::resources::kNodeShards);
  return out;
}

}  // namespace scheduler
