// Names of API resources: group, version, plural; and the rows that say what each kind is.
#pragma once

#include <compare>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"

namespace api {

struct ResourceId {
  std::string group;  // empty: core
  std::string version;
  std::string plural;

  auto operator<=>(const ResourceId&) const = default;
  std::string api_version() const { return group.empty() ? version : group + "/" + version; }
};

// The path of a resource: "/api/v1/namespaces/ns/pods/name/status".
std::string resource_path(const ResourceId& id, std::string_view ns, std::string_view name,
                          std::string_view subresource);

// The resources this program itself uses, so that nobody spells them twice.
namespace resources {
inline const ResourceId kPods{"", "v1", "pods"};
inline const ResourceId kNodes{"", "v1", "nodes"};
inline const ResourceId kNamespaces{"", "v1", "namespaces"};
inline const ResourceId kServices{"", "v1", "services"};
inline const ResourceId kEndpoints{"", "v1", "endpoints"};
inline const ResourceId kConfigMaps{"", "v1", "configmaps"};
inline const ResourceId kSecrets{"", "v1", "secrets"};
inline const ResourceId kServiceAccounts{"", "v1", "serviceaccounts"};
inline const ResourceId kEvents{"", "v1", "events"};
inline const ResourceId kPersistentVolumeClaims{"", "v1", "persistentvolumeclaims"};
inline const ResourceId kPersistentVolumes{"", "v1", "persistentvolumes"};
inline const ResourceId kStorageClasses{"storage.k8s.io", "v1", "storageclasses"};
inline const ResourceId kCsiNodes{"storage.k8s.io", "v1", "csinodes"};
inline const ResourceId kCsiDrivers{"storage.k8s.io", "v1", "csidrivers"};
inline const ResourceId kCsiStorageCapacities{"storage.k8s.io", "v1", "csistoragecapacities"};
inline const ResourceId kVolumeAttachments{"storage.k8s.io", "v1", "volumeattachments"};
inline const ResourceId kDeviceClasses{"resource.k8s.io", "v1", "deviceclasses"};
inline const ResourceId kResourceClaims{"resource.k8s.io", "v1", "resourceclaims"};
inline const ResourceId kResourceSlices{"resource.k8s.io", "v1", "resourceslices"};
inline const ResourceId kNumatopologies{"nodeinfo.volcano.sh", "v1alpha1", "numatopologies"};
inline const ResourceId kReplicationControllers{"", "v1", "replicationcontrollers"};
inline const ResourceId kReplicaSets{"apps", "v1", "replicasets"};
inline const ResourceId kStatefulSets{"apps", "v1", "statefulsets"};
inline const ResourceId kPriorityClasses{"scheduling.k8s.io", "v1", "priorityclasses"};
inline const ResourceId kPodDisruptionBudgets{"policy", "v1", "poddisruptionbudgets"};
inline const ResourceId kResourceQuotas{"", "v1", "resourcequotas"};
inline const ResourceId kNodeShards{"shard.volcano.sh", "v1alpha1", "nodeshards"};
inline const ResourceId kLeases{"coordination.k8s.io", "v1", "leases"};
inline const ResourceId kNetworkPolicies{"networking.k8s.io", "v1", "networkpolicies"};
inline const ResourceId kCustomResourceDefinitions{"apiextensions.k8s.io", "v1", "customresourcedefinitions"};
inline const ResourceId kJobs{"batch.volcano.sh", "v1alpha1", "jobs"};
inline const ResourceId kCommands{"bus.volcano.sh", "v1alpha1", "commands"};
inline const ResourceId kQueues{"scheduling.volcano.sh", "v1beta1", "queues"};
inline const ResourceId kPodGroups{"scheduling.volcano.sh", "v1beta1", "podgroups"};
inline const ResourceId kHyperNodes{"topology.volcano.sh", "v1alpha1", "hypernodes"};
inline const ResourceId kCronJobs{"batch.volcano.sh", "v1alpha1", "cronjobs"};
inline const ResourceId kJobFlows{"flow.volcano.sh", "v1alpha1", "jobflows"};
inline const ResourceId kJobTemplates{"flow.volcano.sh", "v1alpha1", "jobtemplates"};
inline const ResourceId kColocationConfigurations{"config.volcano.sh", "v1alpha1", "colocationconfigurations"};
}  // namespace resources

// Readers of object metadata; views live as long as the Json handle.
std::string_view name_of(const Json& object);
std::string_view namespace_of(const Json& object);
std::string_view uid_of(const Json& object);
std::string_view resource_version_of(const Json& object);
std::string_view kind_of(const Json& object);
// "ns/name", or "name" for cluster scope.
std::string key_of(const Json& object);
// The value of a label or annotation, or empty.
std::string_view label_of(const Json& object, std::string_view key);
std::string_view annotation_of(const Json& object, std::string_view key);
bool is_deleting(const Json& object);
// The ownerReference with controller: true, or null.
const Json& controller_of(const Json& object);
// A controller ownerReference (controller and blockOwnerDeletion true) to `owner`, which has apiVersion, kind, name,
// uid.
Json controller_reference(const Json& owner);

}  // namespace api
