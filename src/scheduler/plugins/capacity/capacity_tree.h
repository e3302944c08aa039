// The limits and deserved shares of queues, and their places in the tree.
#pragma once

#include <vector>

#include "scheduler/plugins/queues/queue_reserve.h"

namespace scheduler {

struct CapacityQueue {
  bool active = false;
  QueueId parent;                  // unset for root, and everywhere without a hierarchy
  std::vector<QueueId> ancestors;  // root first, without the queue itself
  std::vector<QueueId> children;
  std::vector<QueueId> leaves;  // itself, or the leaves below it: their sums are its sums
  Resource capability;
  bool has_capability = false;
  Resource real_capability;
  Resource guarantee;
  Resource withheld;  // from siblings: its guarantee, or those of the queues below it where their sum is larger
  Resource deserved;
  Resource inqueue;
  Resource elastic;

  bool is_leaf() const { return children.empty(); }
};

class CapacityTree {
 public:
  bool hierarchical = false;
  bool ready = true;  // false: the tree is broken (a cycle, an unknown parent, jobs in a queue that has children)
  QueueId root;

  void build(const Model& model, const QueueReserve& reserve);
  bool has(QueueId id) const { return id.is_set() && id.index < queues_.size() && queues_[id.index].active; }
  const CapacityQueue& operator[](QueueId id) const { return queues_[id.index]; }
  CapacityQueue& operator[](QueueId id) { return queues_[id.index]; }
  // With what is promised in this cycle.
  Resource allocated(const Model& model, QueueId id) const;
  double share(const Model& model, QueueId id) const;
  // The index, in both lists of ancestors, of the deepest one they share; 0 when there is none.
  std::size_t common_depth(QueueId a, QueueId b) const;
  // The ancestor just below that index, or the queue itself.
  QueueId ancestor_below(QueueId id, std::size_t depth) const;

 private:
  void build_flat(const Model& model, const Resource& total);
  bool link(const Model& model);
  void set_root(const Model& model, const Resource& total);
  void sum_guarantees(QueueId parent);
  void set_children(QueueId parent);

  std::vector<CapacityQueue> queues_;
};

}  // namespace scheduler
