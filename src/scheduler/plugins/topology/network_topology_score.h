// How good is a node for a pod, by where it lies in the network?
#pragma once

#include <map>
#include <memory>

#include "scheduler/model/domain_sums.h"
#include "scheduler/search/node_evaluators.h"

namespace scheduler {

struct TopologyWeights {
  double all = 1;
  std::map<Dim, std::int64_t> by_dim;
  bool normal_pods = true;
  double fading = 0.8;  // from one tier to the next
};

// How full the domain would be with so much more, in 0..1 over the weighted dimensions; 0 when it does not fit.
double fullness(const DomainSums& sums, const TopologyWeights& weights, DomainId domain, const Sums& more);

// How many of the part's tasks have a node in the domain, of how many.
double part_of_tasks_in(Model& model, const Job& job, std::uint32_t part, DomainId domain);

// For a pod whose part of the job has a topology: near to where the part already is.
std::unique_ptr<NodeScorer> make_part_scorer(Model& model, const TopologyWeights& weights, JobId job,
                                             std::uint32_t part);
// Nodes that lie in the same domains.
class DomainGroups {
 public:
  const NodeGroups& of(Model& model);
  const std::vector<DomainId>& domains_of(std::uint32_t group) const { return domains_[group]; }

 private:
  NodeGroups groups_;
  std::vector<std::vector<DomainId>> domains_;
  std::uint64_t generation_ = 0;
};

// For every other pod: domains that are well used, so that the others stay whole.
std::unique_ptr<NodeScorer> make_normal_pod_scorer(Model& model, DomainSums& sums, DomainGroups& groups,
                                                   const TopologyWeights& weights, const Request& request);

}  // namespace scheduler
