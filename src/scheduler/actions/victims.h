// Which pods may make room, and in which order do they go?
#pragma once

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "scheduler/session/session.h"

namespace scheduler {

// Whether the node would have room for the task without the victims, and what was there before them.
bool victims_suffice(Session& session, const Task& task, NodeId node, const std::vector<TaskId>& victims);

// Nodes where eviction could help: all, without those that an earlier attempt of this cycle found hopeless.
NodeSet nodes_worth_trying(Session& session, const Task& task);

// Tasks on a node that the filter accepts, by ascending uid.
template <class Filter>
std::vector<TaskId> tasks_on(Session& session, NodeId node, const Filter& accept) {
  const Model& model = session.model();
  std::vector<TaskId> out;
  for (const TaskId id : model.nodes[node].tasks) {
    if (accept(model.task(id))) out.push_back(id);
  }
  std::sort(out.begin(), out.end(), [&](TaskId a, TaskId b) { return model.text(a).uid < model.text(b).uid; });
  return out;
}

// Remembers for which kinds of pods nothing was found, until something moves.
class Hopeless {
 public:
  explicit Hopeless(const Model& model) : model_(model) {}
  bool knows(const Task& task) const {
    return task.shape == shape_ && task.job == job_ && task.preemptable == preemptable_ && same_class(task) &&
           model_.touched().size() == position_;
  }
  bool same_class(const Task& task) const {
    return labels_.is_set() && model_.pods.label_set(task.labels).signature == model_.pods.label_set(labels_).signature;
  }
  void record(const Task& task) {
    // A search that is in vain in one domain of a label may find somebody in the next.
    if (task.job.is_set() && model_.job(task.job).extras().domain_key.is_set()) return;
    shape_ = task.shape;
    job_ = task.job;
    labels_ = task.labels;
    preemptable_ = task.preemptable;
    position_ = model_.touched().size();
  }

 private:
  const Model& model_;
  ShapeId shape_;
  JobId job_;
  LabelSetId labels_;
  bool preemptable_ = false;  // whom tdm lets make room
  std::size_t position_ = 0;
};

}  // namespace scheduler
