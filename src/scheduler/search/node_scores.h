// How many points has each node for one class of pods?
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "scheduler/model/nodes/node_set.h"
#include "scheduler/search/node_evaluators.h"

namespace scheduler {

using Filters = std::vector<std::unique_ptr<NodeFilter>>;
using Scorers = std::vector<std::unique_ptr<NodeScorer>>;

// The Kubernetes rules for turning raw values into 0..100 among the candidates.
inline std::int64_t normalised(NodeScorer::Normalise rule, std::int64_t raw, std::int64_t min, std::int64_t max) {
  switch (rule) {
    case NodeScorer::Normalise::kMax: return max == 0 ? raw : 100 * raw / max;
    case NodeScorer::Normalise::kReverseMax: return max == 0 ? 100 : 100 - 100 * raw / max;
    case NodeScorer::Normalise::kMinMax:
      return max == min
                 ? 0
                 : static_cast<std::int64_t>(100.0 * (static_cast<double>(raw - min) / static_cast<double>(max - min)));
    default: return raw;
  }
}

// A sum for each node, reused from search to search.
class NodeScores {
 public:
  // Scores a group; those of other nodes mean nothing afterwards. `without`: is left out.
  void score(const Scorers& scorers, const NodeSet& group, const NodeScorer* without = nullptr);
  // Scores the group unless it has one member only, and tells the node with the most points, then the lowest id.
  std::uint32_t best_of(const Scorers& scorers, const NodeSet& group);
  const std::vector<double>& totals() const { return totals_; }

 private:
  std::vector<double> totals_;
};

}  // namespace scheduler
