// Which pods go together?
//
// All pods of a group that is disrupted as a whole (DisruptionMode::kAll) go with any of them, on whatever node they
// are.
#pragma once

#include <vector>

#include "scheduler/model/model.h"

namespace scheduler {

// Others go with the pod, or may come to go.
inline bool goes_whole(const Model& model, TaskId id) {
  const JobId job = model.task(id).job;
  return job.is_set() && model.job(job).disruption == DisruptionMode::kAll;
}

// The pods that hold room and go with this one, itself among them.
template <class Visit>
void for_each_gone_with(const Model& model, TaskId id, const Visit& visit) {
  if (!goes_whole(model, id)) return visit(id);
  for (const TaskId one : model.job(model.task(id).job).tasks) {
    if (is_allocated_like(model.task(one).status)) visit(one);
  }
}

// The pods and all that go with them, each once.
std::vector<TaskId> with_all_gone(const Model& model, const std::vector<TaskId>& pods);
// The pods by whom they go with: pods of one group that goes whole are one unit.
std::vector<std::vector<TaskId>> units_of(const Model& model, const std::vector<TaskId>& pods);

}  // namespace scheduler
