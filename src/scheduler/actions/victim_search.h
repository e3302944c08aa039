// On which node does a pod find a place at the least cost to others?
//
// Every node has a price, its cheapest choice of victims by amounts; the cheapest node is proven first, and a proof
// that comes out dearer goes back among the others. Prices are kept for pods of one class while evictions go on: these
// only take candidates away, so that a price that is old is too low at most, and is asked again before it counts.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/actions/eviction_units.h"
#include "scheduler/actions/node_victims.h"

namespace scheduler {

// The part of an action in a search for victims.
struct EvictionRule {
  std::string_view action;
  Displaceable displaceable;
  MayGo may_go;
  bool by_score = false;  // the best score decides between nodes of one price, else their order
};

struct EvictionChoice {
  NodeId node;
  std::size_t victims = 0;
};

// Pods of the node that the action may displace for the task, by ascending uid.
std::vector<TaskId> candidates_on(Session& session, const EvictionRule& rule, const Task& task, NodeId node);

class VictimSearch {
 public:
  // `session`, `costs` and `budget` outlive it.
  VictimSearch(Session& session, const EvictionCosts& costs, SearchBudget& budget, EvictionRule rule);

  // Evicts the victims, where a node was found; nothing, and nothing done, else. `within`: nodes worth a look.
  // `sharing`: tasks with equal numbers are told the same prices, where their class is the same.
  std::optional<EvictionChoice> run(const Task& task, const NodeSet& within, std::uint64_t sharing);
  // Evictions were taken back: old prices may be too high.
  void forget() { is_known_ = false; }
  const EvictionRule& rule() const { return rule_; }
  // The prices of an equal task hold for this one: run() needs no nodes.
  bool is_priced(const Task& task, std::uint64_t sharing) const { return is_same_class(task, sharing); }
  // Some of the pods that the action could displace for the task, if the last run was for its group.
  std::vector<TaskId> seen_for(const Task& task) const { return task.job == last_job_ ? seen_ : std::vector<TaskId>(); }

 private:
  struct Price {
    bool is_open = false;   // some choice may work
    bool is_final = false;  // a proof said so
    EvictionCost cost;
  };
  struct Entry {
    bool is_foreign = false;  // of another shard: own nodes come first, whatever they cost
    EvictionCost cost;
    std::uint32_t rank = 0;
    std::uint32_t node = 0;
    // The order of a heap whose top is the cheapest.
    bool operator<(const Entry& other) const {
      if (is_foreign != other.is_foreign) return is_foreign;
      if (cost != other.cost) return other.cost < cost;
      return other.rank < rank;
    }
  };
  struct Offer {
    std::vector<TaskId> may_go;  // in the order in which they go; one for each unit
    std::optional<VictimChoice> choice;
  };

  bool is_same_class(const Task& task, std::uint64_t sharing) const;
  void price_all(const Task& task, const NodeSet& within, std::uint64_t sharing);
  void price_touched(const Task& task, const NodeSet& within);
  void put(const Task& task, NodeId node);
  Offer offer_of(const Task& task, NodeId node);
  const Offer& last_offer(const Task& task, NodeId node);
  void push(std::uint32_t node);
  void drop_stale();
  void price_again(const Task& task);
  void mark_shaken(const std::vector<TaskId>& victims);
  // The node to try next; unset: none is left.
  NodeId pop_cheapest(const Task& task);
  void rank_by_score(const Task& task);
  std::optional<EvictionChoice> prove(const Task& task, NodeId node);

  Session& session_;
  Model& model_;
  const EvictionCosts& costs_;
  SearchBudget& budget_;
  const EvictionRule rule_;
  NodeVictims victims_;

  bool is_known_ = false;
  bool was_node_by_node_ = false;  // when the prices were made
  ShapeId shape_;
  std::uint32_t signature_ = 0;
  std::uint64_t sharing_ = 0;
  std::size_t position_ = 0;  // touched nodes that are looked at
  NodeSet within_;
  std::vector<Price> prices_;         // by node
  std::vector<std::uint32_t> ranks_;  // by node: its place between equals
  std::vector<Entry> heap_;
  std::vector<std::uint32_t> proven_;   // nodes that proofs priced: what queues may hold has a part in it
  std::optional<EvictionCost> ranked_;  // nodes of this price have their places by score
  // The last offer, while nothing has changed since.
  Offer offer_;
  NodeId offer_node_;
  JobId offer_job_;
  std::size_t offer_position_ = 0;
  bool gave_way_ = false;      // the last run evicted somebody
  std::vector<JobId> shaken_;  // groups that the last run left with nothing to spare, or ended
  std::vector<TaskId> seen_;   // each once: while all nodes are priced
  bool is_pricing_all_ = false;
  JobId last_job_;
  std::size_t left_out_ = 0;  // nodes without a price, as the budget was spent
};

}  // namespace scheduler
