// Which CPUs of a node does numa-aware (5.17) give to a pod?
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "book_objects.h"

namespace scenario::book {

// The CPUs, perhaps none; nothing if the node does not admit the pod. `others` are the pods of the node.
std::optional<std::set<int>> choose_cpus(const Node& node, const Pod& pod, const std::vector<const Pod*>& others);
// Whether the pod says which policy its node must have.
bool has_numa_policy(const Pod& pod);
int numa_nodes_of(const Node& node, const std::set<int>& cpus);

}  // namespace scenario::book
