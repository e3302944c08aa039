// The fields that the intake reads, kind by kind.
#include "scheduler/cache/intake_fields.h"

#include "base/time.h"

namespace scheduler {

namespace {

const api::Projection& pod_fields() {
  static const api::Projection kFields{
      "apiVersion",
      "kind",
      "metadata.*",
      "-metadata.managedFields",
      "spec.affinity",
      "spec.containers.image",
      "spec.containers.name",
      "spec.containers.ports",
      "spec.containers.resources",
      "spec.containers.restartPolicy",
      "spec.initContainers.image",
      "spec.initContainers.name",
      "spec.initContainers.ports",
      "spec.initContainers.resources",
      "spec.initContainers.restartPolicy",
      "spec.hostNetwork",
      "spec.nodeName",
      "spec.nodeSelector",
      "spec.overhead",
      "spec.preemptionPolicy",
      "spec.priority",
      "spec.priorityClassName",
      "spec.resourceClaims",
      "spec.resources",
      "spec.runtimeClassName",
      "spec.schedulerName",
      "spec.schedulingGates",
      "spec.tolerations",
      "spec.topologySpreadConstraints",
      "spec.volumes.ephemeral",
      "spec.volumes.image",
      "spec.volumes.name",
      "spec.volumes.persistentVolumeClaim",
      "status.conditions[type=PodScheduled|DisruptionTarget|PodResizePending]",
      "status.containerStatuses.allocatedResources",
      "status.containerStatuses.name",
      "status.containerStatuses.resources",
      "status.initContainerStatuses.allocatedResources",
      "status.initContainerStatuses.name",
      "status.initContainerStatuses.resources",
      "status.nominatedNodeName",
      "status.phase",
      "status.qosClass",
      "status.resourceClaimStatuses",
      "status.startTime",
  };
  return kFields;
}

const api::Projection& node_fields() {
  static const api::Projection kFields{
      "apiVersion",         "kind",
      "metadata.*",         "-metadata.managedFields",
      "spec.taints",        "spec.unschedulable",
      "status.allocatable", "status.capacity",
      "status.images",
  };
  return kFields;
}

const api::Projection& other_fields() {
  static const api::Projection kFields{"*", "metadata.*", "-metadata.managedFields"};
  return kFields;
}

}  // namespace

const api::Projection& fields_read(const api::ResourceId& id) {
  if (id == api::resources::kPods) return pod_fields();
  if (id == api::resources::kNodes) return node_fields();
  return other_fields();
}

const api::Projection* fields_read(std::string_view api_version, std::string_view kind) {
  if (api_version != "v1") return nullptr;
  if (kind == "Pod") return &pod_fields();
  return kind == "Node" ? &node_fields() : nullptr;
}

std::int64_t created_ns(const api::Json& object) {
  const auto time = base::parse_rfc3339(object["metadata"]["creationTimestamp"].as_string());
  return time ? time->ns : 0;
}

}  // namespace scheduler
