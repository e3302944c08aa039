// A Numatopology says how the CPUs of one node are laid out and which of them may be given out; named like the node.
#pragma once

#include "api/meta/object.h"

namespace api {

struct NumaResource {
  std::string allocatable;
  std::int64_t capacity = 0;

  static constexpr std::string_view kSchemaName = "sh.volcano.nodeinfo.v1alpha1.ResourceInfo";
  static constexpr auto fields() {
    return rows(field<&NumaResource::allocatable>("allocatable", "What may be given out: for cpu a set such as 0,2-4."),
                field<&NumaResource::capacity>("capacity", "How much there is."));
  }
};

struct NumaCpu {
  std::int64_t numa = 0;
  std::int64_t socket = 0;
  std::int64_t core = 0;

  static constexpr std::string_view kSchemaName = "sh.volcano.nodeinfo.v1alpha1.CPUInfo";
  static constexpr auto fields() {
    return rows(field<&NumaCpu::numa>("numa", {.minimum = 0}, "Id of the NUMA node."),
                field<&NumaCpu::socket>("socket", {.minimum = 0}, "Id of the socket."),
                field<&NumaCpu::core>("core", {.minimum = 0}, "Id of the physical core."));
  }
};

struct NumaContainerAllocation {
  std::string name;
  StringMap allocations;

  static constexpr std::string_view kSchemaName = "sh.volcano.nodeinfo.v1alpha1.ContainerAllocation";
  static constexpr auto fields() {
    using C = NumaContainerAllocation;
    return rows(field<&C::name>("name", "Name of the container."),
                field<&C::allocations>("allocations", "Per resource: a set of CPUs, or a quantity."));
  }
};

struct NumaPodAllocation {
  std::string uid;
  std::string name;
  std::string ns;
  std::vector<NumaContainerAllocation> container_allocations;

  static constexpr std::string_view kSchemaName = "sh.volcano.nodeinfo.v1alpha1.PodAllocation";
  static constexpr auto fields() {
    using P = NumaPodAllocation;
    return rows(field<&P::uid>("uid", "UID of the pod."), field<&P::name>("name", "Name of the pod."),
                field<&P::ns>("namespace", "Namespace of the pod."),
                field<&P::container_allocations>("containerAllocations", "What its containers hold."));
  }
};

struct NumatopologySpec {
  StringMap policies;
  StringMap res_reserved;
  std::map<std::string, NumaResource, std::less<>> numares;
  std::map<std::string, NumaCpu, std::less<>> cpu_detail;
  std::vector<NumaPodAllocation> pod_allocations;

  static constexpr std::string_view kSchemaName = "sh.volcano.nodeinfo.v1alpha1.NumatopoSpec";
  static constexpr auto fields() {
    using N = NumatopologySpec;
    return rows(field<&N::policies>("policies", "The kubelet's policies: CPUManagerPolicy, TopologyManagerPolicy."),
                field<&N::res_reserved>("resReserved", "Amounts kept for the system, per resource."),
                field<&N::numares>("numares", "What there is and what may be given out, per resource."),
                field<&N::cpu_detail>("cpuDetail", "Where each CPU is, by its id."),
                field<&N::pod_allocations>("podAllocations", "What the containers of each pod hold."));
  }
};

struct Numatopology {
  ObjectMeta metadata;
  NumatopologySpec spec;

  static constexpr std::string_view kSchemaName = "sh.volcano.nodeinfo.v1alpha1.Numatopology";
  static constexpr auto fields() {
    using N = Numatopology;
    return rows(field<&N::metadata>("metadata", {.core_type = "meta.v1.ObjectMeta"}, "Standard metadata."),
                field<&N::spec>("spec", "The node's layout."));
  }
};

}  // namespace api
