// Which tasks of a group shall stand together, and which apart? (task-topology)
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "scheduler/model/model.h"

namespace scheduler {

// What the group's annotations say about its roles; roles by their position in Job::roles.
struct RoleTopology {
  std::vector<std::vector<bool>> together;  // [role][other]; the diagonal is self-affinity
  std::vector<std::vector<bool>> apart;
  std::vector<int> order;     // the user's: higher first, 0 for roles that are not listed
  std::vector<int> priority;  // 4 self-apart, 3 with others, 2 self-together, 1 apart from others, 0 no relation
};

// Nothing when the annotations name a role that the group does not have, or one twice, or when it has more than 1,024.
std::optional<RoleTopology> role_topology_from(const TaskTopologyWish& wish, const Job& job);

struct Bucket {
  std::map<std::uint32_t, std::int32_t> on_node;  // its placed tasks, by node
  std::vector<std::int32_t> by_role;              // all its tasks
  std::vector<TaskId> waiting;                    // by ascending uid
  Resource request;                               // of those that wait
  std::int32_t size = 0;                          // with the placed ones
  double score = 0;                               // milli-cpu + MiB + scalars of those that wait, as it was made
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
  std::int32_t score(const Task& task, NodeId node) const;

 private:
  void sort(std::vector<TaskId>& tasks) const;
  void put(const Task& task, std::uint32_t bucket);
  std::int32_t affinity(std::uint32_t role, const std::vector<std::int32_t>& counts, bool only_apart) const;
  std::uint32_t bucket_for(std::uint32_t role);
  std::uint32_t add_bucket();

  const Model& model_;
  RoleTopology topology_;
  std::vector<Bucket> buckets_;
  std::unordered_map<std::uint32_t, std::uint32_t> of_task_;
  std::map<std::uint32_t, std::vector<std::int32_t>> placed_now_;  // roles placed in this cycle, by node
  std::int32_t largest_ = 0;
};

}  // namespace scheduler
