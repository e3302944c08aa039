// How do filters work that know a node only by looking at it, and whose refusals no eviction can cure?
#pragma once

#include <string_view>

#include "scheduler/search/node_evaluators.h"

namespace scheduler {

class NodeByNodeFilter : public NodeFilter {
 public:
  void narrow(NodeSet& nodes, Strictness, FitErrors* errors) final {
    NodeSet bad = nodes;
    nodes.for_each([&](std::uint32_t n) {
      const std::string_view problem = refusal(n);
      if (problem.empty())
        bad.remove(n);
      else if (errors != nullptr)
        errors->add(problem, 1);
    });
    if (errors != nullptr) errors->add_unresolvable(bad);
    nodes.subtract(bad);
  }
  bool fits(std::uint32_t n) final { return refusal(n).empty(); }

 private:
  // Why the node does not take the pod; empty: it does. A text that stays.
  virtual std::string_view refusal(std::uint32_t node) = 0;
};

}  // namespace scheduler
