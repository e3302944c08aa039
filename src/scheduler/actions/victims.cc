// Which pods may make room, and in which order do they go?
#include "scheduler/actions/victims.h"

namespace scheduler {
namespace {

// Whether `l` is evicted before `r`.
bool goes_first(Session& session, const Task& preemptor, const Task& l, const Task& r) {
  const Model& model = session.model();
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

void sort_victims(Session& session, const Task& preemptor, std::vector<TaskId>& victims) {
  if (victims.size() < 2) return;
  const Model& model = session.model();
  auto less = [&](TaskId a, TaskId b) { return goes_first(session, preemptor, model.task(a), model.task(b)); };
  LiveHeap<TaskId, decltype(less)> heap(less);
  for (const TaskId id : victims) heap.push(id);
  victims.clear();
  while (!heap.empty()) victims.push_back(heap.pop());
}

bool victims_suffice(Session& session, const Task& task, NodeId node, const std::vector<TaskId>& victims) {
  const Model& model = session.model();
  for (const Part& part : model.shape_of(task).request.parts) {
    std::int64_t room = model.nodes.future_idle(part.dim, node.index);
    for (const TaskId id : victims) room += model.shape_of(model.task(id)).request.get(part.dim);
    if (part.amount > room) return false;
  }
  return true;
}

NodeSet nodes_worth_trying(Session& session, const Task& task) {
  NodeSet out = session.model().nodes.known();
  const JobTrouble* trouble = task.job.is_set() ? session.find_trouble(task.job) : nullptr;
  if (trouble == nullptr) return out;
  auto found = trouble->by_task.find(session.model().text(task.id).name);
  if (found != trouble->by_task.end()) out.subtract(found->second.unresolvable());
  return out;
}

}  // namespace scheduler
