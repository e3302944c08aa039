// In which order do victims go?
#include "scheduler/session/victim_order.h"

namespace scheduler {
namespace {

// Whether `l` is evicted before `r`.
bool goes_first(const Session& session, const Model& model, const Task& preemptor, const Task& l, const Task& r) {
  const auto later_task = [&] { return !session.task_before(l, r); };
  if (l.job == r.job) return later_task();
  const auto known = [&](const Task& task) { return task.job.is_set() && model.job(task.job).queue.is_set(); };
  if (!known(l) || !known(r)) return known(l) == known(r) ? later_task() : !known(l);
  const Job& left = model.job(l.job);
  const Job& right = model.job(r.job);
  if (!known(preemptor) || left.queue == right.queue) {
    const int order = session.ask<JobOrder>(left, right);
    return order == 0 ? later_task() : order > 0;
  }
  const Queue& left_queue = model.queue(left.queue);
  const Queue& right_queue = model.queue(right.queue);
  const int order = session.ask<VictimQueueOrder>(left_queue, right_queue, model.queue(model.job(preemptor.job).queue));
  return order != 0 ? order < 0 : !session.queue_before(left_queue, right_queue);
}

}  // namespace

bool VictimLess::operator()(TaskId a, TaskId b) const {
  return goes_first(*session, *model, *preemptor, model->task(a), model->task(b));
}

LiveHeap<TaskId, VictimLess> victim_heap(const Session& session, const Task& preemptor,
                                         const std::vector<TaskId>& victims) {
  LiveHeap<TaskId, VictimLess> heap({&session, &session.model(), &preemptor});
  for (const TaskId id : victims) heap.push(id);
  return heap;
}

void sort_as_victims(const Session& session, const Task& preemptor, std::vector<TaskId>& victims) {
  if (victims.size() < 2) return;
  auto heap = victim_heap(session, preemptor, victims);
  victims.clear();
  while (!heap.empty()) victims.push_back(heap.pop());
}

}  // namespace scheduler
