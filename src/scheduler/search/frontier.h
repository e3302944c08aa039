// The ranking of the nodes for one class of pods, kept current while pods are placed.
//
// Nodes with room now that pass all filters, with their scores in a tournament tree, corrected by the nodes touched
// since (scheduler-core.md section 3).
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "scheduler/model/model.h"
#include "scheduler/search/node_scores.h"
#include "scheduler/search/search_timing.h"
#include "scheduler/search/shard_nodes.h"

namespace scheduler {

class Frontier {
 public:
  // The judges of the class. `grouped`: the one scorer that speaks of groups only, if there is one. Its part is left
  // out of the totals, and added when groups are compared.
  struct Judges {
    const Filters& filters;
    const Scorers& scorers;
    NodeScorer* grouped = nullptr;
  };

  // All of them outlive it.
  Frontier(const Model& model, const ShardNodes& shard, NodeScores& scores, Judges judges)
      : model_(model), shard_(shard), scores_(scores), judges_(judges) {}

  // Looks at what moved since; at how many nodes.
  std::uint64_t catch_up(const Request& request, SearchTiming& timing);
  // Unset: no node has room now and passes.
  NodeId best();

 private:
  std::uint64_t build(const Request& request, SearchTiming& timing);
  bool judge(const Request& request, std::uint32_t node);
  double total_of(std::uint32_t node);
  bool update_extremes(std::uint32_t node, bool enters);
  void fix_tree(std::uint32_t node);
  void build_tree();
  void place_groups();
  void find_best_in_group(std::uint32_t group);
  std::uint32_t winner();

  const Model& model_;
  const ShardNodes& shard_;
  NodeScores& scores_;
  const Judges judges_;

  bool built_ = false;
  std::uint64_t touched_epoch_ = 0;
  std::size_t touched_position_ = 0;
  NodeSet candidates_;
  std::vector<double> totals_;
  std::vector<std::uint32_t> tree_;  // [1] is the winner; leaves from `leaves_` on
  std::size_t leaves_ = 0;
  // Per normalised scorer: how often each raw value occurs among the candidates.
  std::vector<std::map<std::int64_t, std::uint32_t>> raw_counts_;
  std::vector<std::int64_t> raw_min_, raw_max_;
  std::vector<std::uint32_t> position_;     // of each node in the tree: groups stand together; empty: its id
  std::vector<std::uint32_t> group_begin_;  // by group: its first position; one more at the end
  std::vector<std::uint32_t> best_in_group_;
  std::vector<double> group_scores_;
};

}  // namespace scheduler
