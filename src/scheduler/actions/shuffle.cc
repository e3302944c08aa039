// Which running pods should move, says a plugin (rescheduling, tdm, pdb), and go?
#include <algorithm>

#include "scheduler/framework/action.h"
#include "scheduler/model/whole_groups.h"
#include "scheduler/session/session.h"

namespace scheduler {
namespace {

// Pods without a group, or of a queue that does not exist, are nobody's to move.
bool may_lose_pods(const Model& model, const Job& job) {
  return job.has_group && job.queue.is_set() && model.queue(job.queue).in_use;
}

// A pod that says it runs, and nowhere, holds nothing that could be given back. All pods of a group that goes as a
// whole have to be named.
bool may_go(const Model& model, const std::vector<TaskId>& unit) {
  const bool can_go = std::all_of(unit.begin(), unit.end(), [&](TaskId id) {
    const Task& task = model.task(id);
    const bool runs = task.status == TaskStatus::kRunning || task.status == TaskStatus::kBound;
    return runs && task.node.is_set() && task.job.is_set() && may_lose_pods(model, model.job(task.job));
  });
  return can_go && with_all_gone(model, {unit.front()}).size() == unit.size();
}

class Shuffle final : public Action {
 public:
  void run(Session& session) override {
    std::vector<TaskId> running;
    session.model().for_each_job([&](const Job& job) {
      if (!may_lose_pods(session.model(), job)) return;
      for (const TaskId id : job.tasks) {
        if (session.model().task(id).status == TaskStatus::kRunning) running.push_back(id);
      }
    });
    const Journal::Mark mark = session.journal().mark();
    for (const std::vector<TaskId>& unit : units_of(session.model(), session.ask<VictimTasks>(running))) {
      if (!may_go(session.model(), unit)) continue;
      for (const TaskId id : unit) session.journal().evict(id, "shuffle", {});
    }
    session.journal().commit(mark);
  }
};

}  // namespace

std::unique_ptr<Action> make_shuffle() { return std::make_unique<Shuffle>(); }

}  // namespace scheduler
