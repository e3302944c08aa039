// Which pods may make room, and in which order do they go?
#include "scheduler/actions/victims.h"

namespace scheduler {

bool victims_suffice(Session& session, const Task& task, NodeId node, const std::vector<TaskId>& victims) {
  const Model& model = session.model();
  for (const Part& part : model.shape_of(task).request.parts) {
    std::int64_t room = model.nodes.future_idle(part.dim, node.index);
    for (const TaskId id : victims) {
      if (model.task(id).node == node) room += model.shape_of(model.task(id)).request.get(part.dim);
    }
    if (part.amount > room) return false;
  }
  return true;
}

NodeSet nodes_worth_trying(Session& session, const Task& task) {
  NodeSet out = session.model().nodes.known();
  const JobProblem* trouble = task.job.is_set() ? session.problems().find(task.job) : nullptr;
  if (trouble == nullptr) return out;
  auto found = trouble->by_task.find(session.model().text(task.id).name.view());
  if (found != trouble->by_task.end()) out.subtract(found->second.unresolvable());
  return out;
}

}  // namespace scheduler
