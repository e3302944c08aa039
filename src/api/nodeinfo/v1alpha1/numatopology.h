// A Numatopology says how the CPUs of one node are laid out and which of them may be given out; named like the node.
#pragma once

#include "api/meta/owner_reference.h"

namespace api {

struct NumaResource {
  static constexpr std::string_view kSchemaName = "sh.volcano.nodeinfo.v1alpha1.ResourceInfo";
  static constexpr auto fields() {
    return rows(field<Text>("allocatable", "What may be given out: for cpu a set such as 0,2-4."),
                field<std::int64_t>("capacity", "How much there is."));
  }
};

struct NumaCpu {
  static constexpr std::string_view kSchemaName = "sh.volcano.nodeinfo.v1alpha1.CPUInfo";
  static constexpr auto fields() {
    return rows(field<std::int64_t>("numa", {.minimum = 0}, "Id of the NUMA node."),
                field<std::int64_t>("socket", {.minimum = 0}, "Id of the socket."),
                field<std::int64_t>("core", {.minimum = 0}, "Id of the physical core."));
  }
};

struct NumaContainerAllocation {
  static constexpr std::string_view kSchemaName = "sh.volcano.nodeinfo.v1alpha1.ContainerAllocation";
  static constexpr auto fields() {
    return rows(field<Text>("name", "Name of the container."),
                field<Map<Text>>("allocations", "Per resource: a set of CPUs, or a quantity."));
  }
};

struct NumaPodAllocation {
  static constexpr std::string_view kSchemaName = "sh.volcano.nodeinfo.v1alpha1.PodAllocation";
  static constexpr auto fields() {
    return rows(field<Text>("uid", "UID of the pod."), field<Text>("name", "Name of the pod."),
                field<Text>("namespace", "Namespace of the pod."),
                field<List<NumaContainerAllocation>>("containerAllocations", "What its containers hold."));
  }
};

struct NumatopologySpec {
  static constexpr std::string_view kSchemaName = "sh.volcano.nodeinfo.v1alpha1.NumatopoSpec";
  static constexpr auto fields() {
    return rows(field<Map<Text>>("policies", "The kubelet's policies: CPUManagerPolicy, TopologyManagerPolicy."),
                field<Map<Text>>("resReserved", "Amounts kept for the system, per resource."),
                field<Map<NumaResource>>("numares", "What there is and what may be given out, per resource."),
                field<Map<NumaCpu>>("cpuDetail", "Where each CPU is, by its id."),
                field<List<NumaPodAllocation>>("podAllocations", "What the containers of each pod hold."));
  }
};

struct Numatopology {
  static constexpr std::string_view kSchemaName = "sh.volcano.nodeinfo.v1alpha1.Numatopology";
  static constexpr auto fields() {
    return rows(field<Json>("metadata", {.core_type = "meta.v1.ObjectMeta"}, "Standard metadata."),
                field<NumatopologySpec>("spec", "The node's layout."));
  }
};

}  // namespace api
