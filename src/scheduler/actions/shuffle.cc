// Which running pods should move, says a plugin (rescheduling, tdm, pdb), and go?
#include <algorithm>

#include "scheduler/framework/action.h"
#include "scheduler/framework/session.h"

namespace scheduler {
namespace {

class Shuffle final : public Action {
 public:
  void run(Session& session) override {
    std::vector<TaskId> running;
    session.model().for_each_job([&](const Job& job) {
      for (const TaskId id : job.tasks) {
        if (session.model().task(id).status == TaskStatus::kRunning) running.push_back(id);
      }
    });
    const Session::Mark mark = session.mark();
    for (const TaskId id : session.ask<VictimTasks>(running)) {
      // A pod that says it runs, and nowhere, holds nothing that could be given back.
      if (session.model().task(id).node.is_set()) session.evict(id, "shuffle", {});
    }
    session.commit(mark);
  }
};

}  // namespace

std::unique_ptr<Action> make_shuffle() { return std::make_unique<Shuffle>(); }

}  // namespace scheduler
