// The graph of a JobFlow: which of its nodes can never start? Admission refuses such flows, the controller says so.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace api {

struct FlowNode {
  std::string name;                  // unique
  std::vector<std::string> targets;  // names of the nodes before it
};

// The state of one node.
struct FlowStanding {
  bool can_start = true;                      // false: it waits in a circle, for somebody in one, or for nobody
  std::optional<std::string> unknown_target;  // the first of its targets that is not a node
};

// In the order of `nodes`. The work grows with the size of the graph.
std::vector<FlowStanding> standings_of(const std::vector<FlowNode>& nodes);

}  // namespace api
