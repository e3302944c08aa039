// How busy is each node really? The measurements of a metrics source, by node name.
#pragma once

#include <map>
#include <string>

#include "base/time.h"

namespace scheduler {

// Averages over the last ten minutes, in percent of the node's capacity.
struct NodeUsage {
  double cpu = 0;
  double memory = 0;
  base::Time at;  // when it was measured
};

struct NodeUsages {
  std::map<std::string, NodeUsage, std::less<>> by_node;
  // The period under which the source's values are kept; plugins that ask for another find nothing.
  std::string period = "10m";
  std::uint64_t generation = 0;  // grows with each measurement

  const NodeUsage* find(std::string_view node, std::string_view wanted_period) const {
    const auto found = by_node.find(node);
    return wanted_period != period || found == by_node.end() ? nullptr : &found->second;
  }
};

}  // namespace scheduler
