// Places for pods that ask for no resources.
#include <unordered_map>

#include "scheduler/framework/action.h"
#include "scheduler/session/queue_heap.h"

namespace scheduler {
namespace {

class Backfill final : public Action {
 public:
  void run(Session& session) override {
    Model& model = session.model();
    JobsByQueue work(session, JobsByQueue::Places::kFixed);
    std::unordered_map<std::uint32_t, TaskHeap> tasks;
    for (const JobId id : session.jobs_to_look_at()) {
      const Job& job = model.job(id);
      if (job.pending_best_effort == 0 && job.waiting_count() == 0) continue;  // nothing for this action
      if (job.is_pending() || session.ask<JobValid>(job)) continue;
      for (const TaskId task_id : std::vector<TaskId>(job.tasks)) {
        const Task& task = model.task(task_id);
        if (!task.best_effort || task.gated || !task.ours) continue;
        if (task.status == TaskStatus::kPipelined) session.journal().unpipeline(task_id);
        if (task.status != TaskStatus::kPending) continue;
        auto [slot, added] = tasks.try_emplace(id.index, make_task_heap(session));
        slot->second.push(task_id);
      }
      if (tasks.contains(id.index)) work.add(id);
    }
    while (!work.queues.empty()) {
      const QueueId queue = work.queues.pop();
      while (work.has_jobs(queue)) {
        const JobId job = work.pop(queue);
        TaskHeap& heap = tasks.at(job.index);
        while (!heap.empty()) place(session, job, model.task(heap.pop()));
      }
    }
  }

 private:
  static void place(Session& session, JobId job, const Task& task) {
    const std::string name = session.model().text(task.id).name.str();
    FitErrors errors;
    if (Refusal refusal = session.ask<PrePredicate>(task)) {
      errors.refuse_pod(refusal, session.model().nodes.known_count());
      session.problems().of(job).by_task.insert_or_assign(name, std::move(errors));
      return;
    }
    const auto choice = session.search().find_without_resources(task, errors);
    if (!choice) {
      session.problems().of(job).by_task.insert_or_assign(name, std::move(errors));
      return;
    }
    if (session.journal().allocate(task.id, choice->node)) session.journal().dispatch_if_ready(job);
  }
};

}  // namespace

std::unique_ptr<Action> make_backfill() { return std::make_unique<Backfill>(); }

}  // namespace scheduler
