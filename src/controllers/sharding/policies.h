// Which nodes does each scheduler get? A pure function of the configuration and of what nodes are and carry.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "controllers/sharding/config.h"

namespace controllers::sharding {

struct NodeFacts {
  std::string name;
  std::map<std::string, std::string, std::less<>> labels;
  // The part of the node that pods request, 0 to 1; unset where the node does not say what it has.
  std::optional<double> cpu, memory;
};

struct Assignment {
  std::string scheduler;
  std::vector<std::string> nodes;  // by name
  std::size_t nodes_wanted = 0;    // minNodes of its limits; fewer nodes than that were left
};

// Shares out `nodes`, which are in the order of their names. No node is given twice; a scheduler chooses among those
// that the ones before it left. COMPAT(sharding-batches): all nodes are looked at together, so that a limit is a limit.
std::vector<Assignment> assign(const Config& config, const std::vector<NodeFacts>& nodes);

}  // namespace controllers::sharding
