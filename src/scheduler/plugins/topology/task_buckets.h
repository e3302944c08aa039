// Which tasks of a group shall stand together, and which apart? (task-topology)
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "scheduler/model/model.h"

namespace scheduler {

// The annotations of a group about its roles; roles by their position in Job::roles.
struct RoleTopology {
  std::vector<std::vector<bool>> together;  // [role][other]; the diagonal is self-affinity
  std::vector<std::vector<bool>> apart;
  std::vector<int> order;     // the user's: higher first, 0 for roles that are not listed
  std::vector<int> priority;  // 4 self-apart, 3 with others, 2 self-together, 1 apart from others, 0 no relation
};

// Empty when the annotations name a role that the group does not have, or one twice, or when it has more than 1,024.
std::optional<RoleTopology> role_topology_from(const TaskTopologyPreference& preference, const Job& job);

struct Bucket {
  std::unordered_map<std::uint32_t, std::int32_t> on_node;  // its placed tasks, by node
  std::vector<std::int32_t> pull;  // by role: its tasks that are to be with it, less those that are not
  std::vector<TaskId> waiting;     // by ascending uid
  Resource request;                // of those that wait
  std::int32_t size = 0;           // with the placed ones
  double score = 0;                // milli-cpu + MiB + scalars of those that wait, as it was made
};

// The buckets of one group in one cycle. Follows placements.
class TaskBuckets {
 public:
  TaskBuckets(const Model& model, const Job& job, RoleTopology topology);

  // Position of the task's bucket; nothing for tasks outside all buckets.
  std::optional<std::uint32_t> bucket_of(TaskId task) const;
  const Bucket& operator[](std::uint32_t i) const { return buckets_[i]; }
  const RoleTopology& topology() const { return topology_; }
  std::int32_t largest() const { return largest_; }
  void placed(const Task& task);
  void removed(const Task& task);
  // How well the node suits the task's bucket: what stands there, what hinders, and how much of the rest would fit.
  // Nodes are mostly asked about one task after the other: what does not depend on the node is kept for the next.
  std::int32_t score(const Task& task, NodeId node);

 private:
  // The requests of a bucket when none, one, two, ... of its waiting tasks are left out, in their order; one never is.
  struct Remainders {
    TaskId stays;
    std::uint64_t change = 0;     // of the buckets, when it was made; 0: never
    std::vector<Dim> dims;        // that are asked for
    std::vector<double> amounts;  // [left out][dim]
    std::size_t others = 0;       // how many can be left out
    bool falls = true;            // no step asks for more than the one before
  };
  // Both ways: a role is in the lists of those that are in its own.
  struct Relations {
    std::vector<std::uint32_t> together;
    std::vector<std::uint32_t> apart;
  };
  // The tasks placed on a node in this cycle, by role: how many, and how many that are to be apart from it.
  struct PlacedNow {
    std::vector<std::int32_t> count;
    std::vector<std::int32_t> push;
  };

  void sort(std::vector<TaskId>& tasks) const;
  void put(const Task& task, std::uint32_t bucket);
  std::uint32_t bucket_for(std::uint32_t role);
  std::uint32_t add_bucket();
  void make_remainders(const Task& task, const Bucket& bucket);
  // How many tasks must be left out for the others to fit; all others where nothing helps.
  std::size_t left_out(NodeId node);
  double room(NodeId node, Dim dim) const;

  const Model& model_;
  RoleTopology topology_;
  std::vector<Bucket> buckets_;
  std::unordered_map<std::uint32_t, std::uint32_t> of_task_;
  std::unordered_map<std::uint32_t, PlacedNow> placed_now_;  // by node
  std::vector<Relations> related_;                           // by role: what the topology says of it
  std::int32_t largest_ = 0;
  std::uint64_t changes_ = 1;
  Remainders remainders_;
  std::vector<double> room_;  // of the node in question, by position in the remainders' dims
};

}  // namespace scheduler
