// Hierarchical dominant resource fairness: which queue is furthest below its part of the tree?
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "scheduler/model/model.h"

namespace scheduler {

// The tree is named by queues' annotations (volcano.sh/hierarchy: root/a/b, volcano.sh/hierarchy-weights: 1/2/3); every
// job is a leaf under its queue's last node. Shares of inner nodes are those of their children, scaled down to the
// smallest unsaturated one (Bhattacharya et al., Hierarchical Scheduling for Diverse Datacenter Workloads, 2013).
class DrfTree {
 public:
  // Made anew each cycle, since jobs come and go: O(jobs), and a sum over tasks for jobs that changed.
  void build(const Model& model);
  // Before zero: `a` is further below its part. Follows what was placed since.
  double compare(const Model& model, QueueId a, QueueId b);
  // The candidates whose removal would leave the reclaimer's queue behind theirs, each tested alone.
  std::vector<TaskId> reclaimable(const Model& model, const Task& reclaimer, const std::vector<TaskId>& candidates);

 private:
  struct Node {
    std::uint32_t parent = 0;
    double weight = 1;
    std::vector<std::uint32_t> children;
    std::map<std::string, std::uint32_t, std::less<>> inner;  // children that are no jobs, by name
    JobId job;                                                // of a leaf
    Resource request;
    Resource allocated;
    double share = 0;
    bool saturated = false;
  };
  struct Wanted {
    std::uint64_t changes = ~std::uint64_t{0};
    Resource request;
  };

  void follow(const Model& model);
  void recompute();
  void judge_leaf(Node& leaf) const;
  void judge_inner(Node& node) const;
  double share_of_total(const Resource& allocated) const;
  const Resource& request_of(const Model& model, const Job& job);
  std::uint32_t node_for_queue(const Queue& queue, bool make);
  double compare_paths(const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b) const;

  std::vector<Node> nodes_;  // parents before children
  std::unordered_map<std::uint32_t, std::uint32_t> leaf_of_job_;
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> path_of_queue_;
  std::unordered_map<std::uint32_t, Wanted> wanted_;  // by job
  std::vector<Dim> dims_;
  Resource total_;
  Resource total_allocated_;
  std::uint64_t seen_epoch_ = 0;
  std::size_t seen_touched_ = 0;
};

}  // namespace scheduler
