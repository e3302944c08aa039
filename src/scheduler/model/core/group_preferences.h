// Which annotations of a PodGroup do single plugins read? Kept beside the jobs, only for groups that have some.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "api/json/json.h"
#include "scheduler/model/core/ids.h"

namespace scheduler {

// The roles that shall run beside one another or apart (task-topology); as annotated.
struct TaskTopologyPreference {
  std::string affinity;
  std::string anti_affinity;
  std::string order;
};

class GroupPreferences {
 public:
  void set(JobId job, const api::Json& annotations) {
    TaskTopologyPreference preference{annotations["volcano.sh/task-topology-affinity"].str(),
                                      annotations["volcano.sh/task-topology-anti-affinity"].str(),
                                      annotations["volcano.sh/task-topology-task-order"].str()};
    if (preference.affinity.empty() && preference.anti_affinity.empty() && preference.order.empty())
      topology_.erase(job.index);
    else
      topology_.insert_or_assign(job.index, std::move(preference));
  }
  // Null when the group has none of these annotations.
  const TaskTopologyPreference* topology(JobId job) const {
    const auto found = topology_.find(job.index);
    return found == topology_.end() ? nullptr : &found->second;
  }
  bool any() const { return !topology_.empty(); }

 private:
  std::unordered_map<std::uint32_t, TaskTopologyPreference> topology_;  // by job
};

}  // namespace scheduler
