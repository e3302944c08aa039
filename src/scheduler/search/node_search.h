// Which node is best for a pod, and why does none fit?
//
// Pods of one class share their evaluators. While several of them wait, the class also keeps a frontier: every
// candidate's score in a tournament tree, corrected by the nodes touched since (scheduler-core.md section 3).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "scheduler/framework/plugin.h"
#include "scheduler/model/model.h"
#include "scheduler/search/node_evaluators.h"
#include "scheduler/search/node_sampling.h"

namespace scheduler {

struct NodeChoice {
  NodeId node;
  bool future = false;  // fits only what is being released
};

// How long one search took, in seconds of wall time.
struct SearchTime {
  double filters = 0;
  double scores = 0;
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
  // With soft shards: own nodes before others, else as they are.
  void own_first(std::vector<NodeId>& nodes) const;
  // The node is of another scheduler's shard, and shards are soft.
  bool is_foreign(NodeId node) const { return model_.shards.mode == ShardingMode::kSoft && !shard_.has(node.index); }
  bool fits_filters(const Task& task, NodeId node);
  // Whether the answer for a node depends on nothing that happens on others.
  bool is_node_by_node(const Task& task);
  // For promises after evictions: the best of the nodes with room once everything is released, those with room now
  // first.
  std::optional<NodeId> find_for_promise(const Task& task, const NodeSet& within);

  bool fits_future(const Task& task, NodeId node) const;
  bool fits_idle(const Task& task, NodeId node) const;
  // Some node has room for the task once everything is released.
  bool some_node_has_room(const Task& task) const;

  std::uint64_t nodes_looked_at() const { return nodes_looked_at_; }
  // From now on find() notes its times; without a clock nothing is measured.
  void time_with(std::function<double()> clock) { clock_ = std::move(clock); }
  std::vector<SearchTime> take_times() { return std::exchange(times_, {}); }
  // Evaluators read what plugins say at the time; call when that may differ (a new cycle).
  void open_cycle();

 protected:
  class Timing;
  using Filters = std::vector<std::unique_ptr<NodeFilter>>;
  enum class Room : std::uint8_t { kNow, kLater };  // kLater: what is being released counts, too

  // The answer of find() and find_now(); `timing` hears when the filters are done.
  virtual std::optional<NodeChoice> look(const Task& task, const NodeSet* within, FitErrors& errors, Room wanted,
                                         Timing& timing);
  // Nobody fits: says why.
  void explain(const Filters& filters, const Request& request, const NodeSet* within, FitErrors& errors, Room wanted);
  // Takes away nodes of other schedulers, where shards are hard.
  void keep_shard(NodeSet& nodes, FitErrors* errors) const;

  Model& model_;
  const PluginSet& plugins_;
  NodeSampler& sampler_;
  NodeSet shard_;  // own nodes, fixed for the cycle

 private:
  struct ClassState;

  std::optional<NodeChoice> find_timed(const Task& task, const NodeSet* within, FitErrors& errors, Room wanted);
  ClassState& state_for(const Task& task);
  void room(const Request& request, bool future, NodeSet& nodes) const;
  void keep_room(const Request& request, Room wanted, NodeSet& nodes) const;
  void explain_room(const Request& request, const NodeSet& nodes, FitErrors& errors, Room wanted) const;
  std::uint32_t best_of(ClassState& state, const NodeSet& group);
  void score_all(ClassState& state, const NodeSet& group, const NodeScorer* without = nullptr);
  // The best of the nodes with room now, or else of those with room later; where shards are soft, own nodes before
  // others.
  NodeChoice best_choice(ClassState& state, const NodeSet& now, const NodeSet& feasible);
  std::uint32_t best_own_first(ClassState& state, const NodeSet& group);

  bool judge(ClassState& state, const Request& request, std::uint32_t node);
  double total_of(ClassState& state, std::uint32_t node);
  void build_frontier(ClassState& state, const Request& request, Timing& timing);
  void catch_up(ClassState& state, const Request& request, Timing& timing);
  bool update_extremes(ClassState& state, std::uint32_t node, bool enters);
  void fix_tree(ClassState& state, std::uint32_t node);
  void build_tree(ClassState& state);
  void place_groups(ClassState& state);
  void find_best_in_group(ClassState& state, std::uint32_t group);
  std::uint32_t best_of_frontier(ClassState& state);

  const std::uint32_t shared_pods_min_;
  std::unordered_map<std::uint64_t, std::unique_ptr<ClassState>> classes_;
  std::unique_ptr<ClassState> single_;  // of a class with few pods
  std::vector<double> totals_;          // scratch
  std::uint64_t nodes_looked_at_ = 0;
  std::function<double()> clock_;
  std::vector<SearchTime> times_;
  bool some_end_ = false;  // some classes do not last
};

}  // namespace scheduler
