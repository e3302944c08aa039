// Which node is best for a pod, and why does none fit?
//
// Pods of one class share their evaluators. While several of them wait, the class also keeps a frontier: every
// candidate's score in a tournament tree, corrected by the nodes touched since (scheduler-core.md section 3).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "scheduler/framework/plugin.h"
#include "scheduler/model/model.h"
#include "scheduler/search/label_domains.h"
#include "scheduler/search/node_evaluators.h"
#include "scheduler/search/node_room.h"
#include "scheduler/search/node_sampling.h"
#include "scheduler/search/node_scores.h"
#include "scheduler/search/search_timing.h"
#include "scheduler/search/shard_nodes.h"

namespace scheduler {

struct NodeChoice {
  NodeId node;
  bool future = false;  // fits only what is being released
};

class NodeSearch {
 public:
  // Below this many waiting pods of a class, what is remembered of it costs more than it saves.
  static constexpr std::uint32_t kSharedPodsMin = 3;

  // The arguments outlive it.
  NodeSearch(Model& model, const PluginSet& plugins, NodeSampler& sampler,
             std::uint32_t shared_pods_min = kSharedPodsMin);
  virtual ~NodeSearch();

  // For allocate: the node must have room now, or else on capacity being released. `within` limits the candidates.
  std::optional<NodeChoice> find(const Task& task, const NodeSet* within, FitErrors& errors);
  // The same, but the node must have room now.
  std::optional<NodeId> find_now(const Task& task, FitErrors& errors);
  // All nodes that take the task now, by descending score; where shards are soft, own nodes first.
  std::vector<NodeId> ranked_now(const Task& task);
  // For backfill: filters and scores only.
  std::optional<NodeChoice> find_without_resources(const Task& task, FitErrors& errors);
  // Nodes that filters leave for eviction, and those with room.
  NodeSet candidates(const Task& task, Strictness strictness, const NodeSet& within, FitErrors* errors);
  // Candidates by descending score, ties by node id.
  std::vector<NodeId> ranked(const Task& task, const NodeSet& candidates);
  bool fits_filters(const Task& task, NodeId node);
  // Whether the answer for a node depends on nothing that happens on others.
  bool is_node_by_node(const Task& task);
  // For promises after evictions: the best of the nodes with room once everything is released, those with room now
  // first.
  std::optional<NodeId> find_for_promise(const Task& task, const NodeSet& within);

  // The domains of labels that groups keep to: no node outside is ever found for their pods.
  LabelDomains& domains() { return domains_; }
  // Own nodes, fixed for the cycle.
  const ShardNodes& shard() const { return shard_; }
  std::uint64_t nodes_looked_at() const { return nodes_looked_at_; }
  // From now on find() notes its times; without a clock nothing is measured.
  void time_with(std::function<double()> clock) { clock_ = std::move(clock); }
  std::vector<SearchTime> take_times() { return std::exchange(times_, {}); }
  // Evaluators read what plugins say at the time; call when that may differ (a new cycle).
  void open_cycle();

 protected:
  // The answer of find() and find_now(); `timing` hears when the filters are done.
  virtual std::optional<NodeChoice> look(const Task& task, const NodeSet* within, FitErrors& errors, Room wanted,
                                         SearchTiming& timing);
  // Nobody fits: says why.
  void explain(const Filters& filters, const Request& request, const NodeSet* within, FitErrors& errors, Room wanted);

  Model& model_;
  const PluginSet& plugins_;
  NodeSampler& sampler_;
  ShardNodes shard_;

 private:
  struct ClassState;

  std::optional<NodeChoice> find_timed(const Task& task, const NodeSet* within, FitErrors& errors, Room wanted);
  ClassState& state_for(const Task& task);
  // The best of the nodes with room now, or else of those with room later; where shards are soft, own nodes before
  // others.
  NodeChoice best_choice(ClassState& state, const NodeSet& now, const NodeSet& feasible);
  std::uint32_t best_own_first(ClassState& state, const NodeSet& group);

  // The nodes, where the pod's group keeps to a domain.
  void keep_to_domain(const Task& task, NodeSet& nodes);

  const std::uint32_t shared_pods_min_;
  LabelDomains domains_;
  NodeScores scores_;
  std::unordered_map<std::uint64_t, std::unique_ptr<ClassState>> classes_;
  std::unique_ptr<ClassState> single_;  // of a class with few pods
  std::uint64_t nodes_looked_at_ = 0;
  std::function<double()> clock_;
  std::vector<SearchTime> times_;
  bool some_end_ = false;  // some classes do not last
};

}  // namespace scheduler
