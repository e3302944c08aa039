// In which order do victims go?
#include "scheduler/framework/session.h"

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

void Session::sort_as_victims(const Task& preemptor, std::vector<TaskId>& victims) const {
  if (victims.size() < 2) return;
  const Model& model = in_.model;
  auto less = [&](TaskId a, TaskId b) { return goes_first(*this, model, preemptor, model.task(a), model.task(b)); };
  LiveHeap<TaskId, decltype(less)> heap(less);
  for (const TaskId id : victims) heap.push(id);
  victims.clear();
  while (!heap.empty()) victims.push_back(heap.pop());
}

}  // namespace scheduler
