// The shared declarations of the nodeorder plugin's parts.
#pragma once

#include <memory>

#include "scheduler/model/model.h"
#include "scheduler/plugins/predicates/node_facts.h"
#include "scheduler/search/node_evaluators.h"

namespace scheduler {

struct NodeOrderWeights {
  double least = 1;
  double most = 0;
  double balanced = 1;
  double node_affinity = 2;
  double pod_affinity = 2;
  double taints = 3;
  double images = 1;
  double spread = 2;
};

// Null where the score would be the same for every node.
std::unique_ptr<NodeScorer> make_pod_affinity_scorer(const Model& model, DomainCache& domains, const Task& task,
                                                     double weight);
std::unique_ptr<NodeScorer> make_spread_scorer(Model& model, DomainCache& domains, const Task& task, double weight);
// Which pods are spread together with this one although it does not ask for it; unset: none.
MatcherId default_spread_of(Model& model, const Task& task);

}  // namespace scheduler
