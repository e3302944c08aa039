// How much of a pod's images does each node have already? (Kubernetes' ImageLocality)
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "scheduler/model/model.h"
#include "scheduler/search/node_evaluators.h"

namespace scheduler {

// The scores of nodes for the sets of images that pods ask for. Most pods of a cluster share few sets, and nodes change
// rarely, so each set is looked up on the nodes once for each change of a node.
class ImageLocality {
 public:
  using Scores = std::vector<double>;  // by node

  // Null if no node has enough of any of the images for a score.
  std::unique_ptr<NodeScorer> scorer_for(const Model& model, const Shape& shape, double weight);

 private:
  // Null where each is 0.
  std::shared_ptr<const Scores> scores_of(const Model& model, const Shape& shape);

  std::uint64_t generation_ = 0;  // of the nodes that the scores are for
  std::map<std::pair<std::vector<Symbol>, std::int32_t>, std::shared_ptr<const Scores>> known_;
};

}  // namespace scheduler
