// Which annotations of a PodGroup do single plugins read? Kept beside the jobs, only for groups that have some.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "api/json/json.h"
#include "scheduler/model/core/ids.h"

namespace scheduler {

// The roles that shall run beside one another or apart (task-topology); as annotated.
struct TaskTopologyWish {
  std::string affinity;
  std::string anti_affinity;
  std::string order;
};

class GroupWishes {
 public:
  void set(JobId job, const api::Json& annotations) {
    TaskTopologyWish wish{annotations["volcano.sh/task-topology-affinity"].str(),
                          annotations["volcano.sh/task-topology-anti-affinity"].str(),
                          annotations["volcano.sh/task-topology-task-order"].str()};
    if (wish.affinity.empty() && wish.anti_affinity.empty() && wish.order.empty())
      topology_.erase(job.index);
    else
      topology_.insert_or_assign(job.index, std::move(wish));
  }
  // Null when the group has none of these annotations.
  const TaskTopologyWish* topology(JobId job) const {
    const auto found = topology_.find(job.index);
    return found == topology_.end() ? nullptr : &found->second;
  }
  bool any() const { return !topology_.empty(); }

 private:
  std::unordered_map<std::uint32_t, TaskTopologyWish> topology_;  // by job
};

}  // namespace scheduler
