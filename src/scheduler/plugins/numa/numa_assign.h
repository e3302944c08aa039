// Which CPUs of a node would a pod get, and does its topology policy admit that?
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/model/pods/shape.h"
#include "scheduler/model/topology/numa.h"

namespace scheduler {

// The CPUs that a container asks for, in whole ones; 0 when it asks for none or for parts.
std::int32_t whole_cpus(const ContainerAsk& ask);

struct NumaResult {
  std::vector<std::pair<std::string, CpuSet>> containers;  // what each gets
  CpuSet all;
  int numa_nodes = 0;  // that are touched
};

// Sets of NUMA nodes are words of so many bits. Sub-NUMA clustering makes some tens in a machine.
inline constexpr std::size_t kNumaNodesMax = 64;

// The CPUs that the containers get of the node's free ones under its policy; nothing, and why, when the policy does not
// admit one of them, or the node has more than kNumaNodesMax.
std::optional<NumaResult> assign_cpus(const NumaNode& node, const CpuSet& free, const std::vector<ContainerAsk>& asks,
                                      std::string& refusal);

// Free CPUs taken as their layout suggests: whole sockets, whole cores (of the socket with the fewest free cores
// first), then single threads next to those already taken.
CpuSet take_by_topology(const NumaNode& node, const CpuSet& free, std::int32_t count);

}  // namespace scheduler
