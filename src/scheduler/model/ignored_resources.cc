// A resource that was counted so far and no longer is, and the sums that change with it.
//
// Rare: a ConfigMap that names devices arrives after the pods that ask for them. So everything is walked.
#include "scheduler/model/model.h"

namespace scheduler {

void Model::ignore_resource(std::string_view name) {
  const std::optional<Dim> counted = dimensions.ignore(name);
  if (!counted) return;
  const Dim dim = *counted;
  nodes.forget_dimension(dim);
  shapes_.for_each([dim](Shape& shape) {
    shape.request.erase(dim);
    shape.best_effort = shape.request.is_empty();
  });
  for (Task& task : tasks_) {
    if (!task.in_use || task.best_effort == shape_of(task).best_effort) continue;
    if (task.job.is_set()) count_in_job(task, task.status, -1);
    task.best_effort = shape_of(task).best_effort;
    if (task.job.is_set()) count_in_job(task, task.status, 1);
  }
  for (Job& job : jobs_) {
    job.allocated.erase(dim);
    if (job.pipelined) job.pipelined.edit().erase(dim);
    if (job.min_resources()) job.more.edit().minimum.erase(dim);
    if (job.in_use) mark_changed(job.id);
  }
  for (Queue& queue : queues_) {
    for (Sums* sums : {&queue.allocated, &queue.pipelined, &queue.pending}) sums->erase(dim);
    for (Resource* amounts : {&queue.capability, &queue.deserved, &queue.guarantee}) amounts->erase(dim);
  }
  ++queue_changes;
  for (std::uint32_t n = 0; n < nodes.size(); ++n) touch(NodeId{n});
}

}  // namespace scheduler
