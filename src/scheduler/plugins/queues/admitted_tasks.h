// Which tasks has a queue admitted through its scheduling gate that have no node yet? They hold what they ask for.
#pragma once

#include <set>
#include <vector>

#include "scheduler/model/model.h"

namespace scheduler {

class AdmittedTasks {
 public:
  void clear() { queues_.clear(); }
  void add(const Model& model, const Task& task) {
    Held& held = of(model.job(task.job).queue);
    if (held.tasks.insert(task.id).second) held.sum += Resource(model.shape_of(task).request);
  }
  void remove(const Model& model, const Task& task) {
    Held& held = of(model.job(task.job).queue);
    if (held.tasks.erase(task.id) > 0) held.sum -= Resource(model.shape_of(task).request);
  }
  // The amount that the queue's admitted tasks hold, without this one.
  Resource of_others(const Model& model, QueueId queue, const Task& task) const {
    if (queue.index >= queues_.size()) return {};
    const Held& held = queues_[queue.index];
    return held.tasks.contains(task.id) ? held.sum - Resource(model.shape_of(task).request) : held.sum;
  }

 private:
  struct Held {
    std::set<TaskId> tasks;
    Resource sum;
  };
  Held& of(QueueId queue) {
    if (queue.index >= queues_.size()) queues_.resize(queue.index + 1);
    return queues_[queue.index];
  }

  std::vector<Held> queues_;
};

}  // namespace scheduler
