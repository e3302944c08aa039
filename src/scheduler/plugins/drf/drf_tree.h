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
  // Tasks of the job are placed or taken away; it is read with the next question.
  void mark(JobId job);
  // Before zero: `a` is further below its part.
  double compare(const Model& model, QueueId a, QueueId b);
  // The candidates whose removal would leave the reclaimer's queue behind theirs, each tested alone.
  std::vector<TaskId> reclaimable(const Model& model, const Task& reclaimer, const std::vector<TaskId>& candidates);

 private:
  struct Node {
    std::uint32_t parent = 0;
    double weight = 1;
    std::vector<std::uint32_t> children;
    std::map<std::string, std::uint32_t, std::less<>> inner;  // children that are not jobs, by name
    JobId job;                                                // of a leaf, as what follows
    Resource request;
    Resource allocated;
    std::uint64_t changes = 0;  // of the job, when it was read
    bool is_marked = false;
  };
  struct Wanted {
    std::uint64_t changes = ~std::uint64_t{0};
    Resource request;
  };
  // The tree as it is judged while some resources are in demand and others are not: what is not saturates every job
  // that uses it, so a change of these is one of all nodes. Questions that try a removal mostly alternate between two.
  struct View {
    std::vector<bool> in_demand;  // by dimension
    std::vector<bool> saturated;  // by node
    std::vector<double> rows;     // by node: its share, and what it holds of the cluster's resources
    std::size_t seen = 0;         // of log_
  };
  // A leaf as it would be.
  struct Trial {
    std::uint32_t leaf = 0;
    Resource allocated;
  };

  void follow(const Model& model);
  void sum_allocated();
  std::vector<bool> in_demand(const Resource& allocated) const;
  View& view_for(std::vector<bool> in_demand);
  void catch_up(View& view) const;
  void judge_leaf(View& view, std::uint32_t leaf, const Resource& allocated) const;
  void judge_inner(View& view, std::uint32_t node) const;
  void judge_share(double* row) const;
  void judge_all(View& view, std::vector<std::uint32_t>& nodes) const;
  void add_path(std::uint32_t leaf, std::vector<std::uint32_t>& nodes) const;
  bool is_behind(const Trial& own, const Trial& other, const Resource& total, QueueId a, QueueId b);
  const Resource& request_of(const Model& model, const Job& job);
  std::uint32_t node_for_queue(const Queue& queue, bool make);
  double compare_paths(const View& view, QueueId a, QueueId b) const;
  std::size_t stride() const { return dims_.size() + 1; }

  std::vector<Node> nodes_;  // parents before children
  std::unordered_map<std::uint32_t, std::uint32_t> leaf_of_job_;
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> path_of_queue_;
  std::unordered_map<std::uint32_t, Wanted> wanted_;  // by job
  std::vector<Dim> dims_;                             // that the cluster has
  Resource total_;
  Resource total_allocated_;
  std::vector<std::uint32_t> leaves_;
  std::vector<std::uint32_t> marked_;  // leaves to be read
  std::vector<std::uint32_t> log_;     // leaves that were read since the tree was made
  std::vector<View> views_;            // few
  std::uint64_t seen_epoch_ = 0;
  std::size_t seen_touched_ = 0;
};

}  // namespace scheduler
