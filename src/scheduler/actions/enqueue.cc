// Which waiting groups may have their pods created? (Pending to Inqueue)
#include "scheduler/actions/all.h"
#include "scheduler/framework/action.h"
#include "scheduler/session/queue_heap.h"

namespace scheduler {
namespace {

class Enqueue final : public Action {
 public:
  void run(Session& session) override {
    if (!nobody_enters(session)) admit_by_order(session);
  }

 private:
  // Room only shrinks with those who enter, so where each would be refused if it came first, their order is idle. A
  // long backlog before a full cluster is the usual case, and ordering it would be most of the cost.
  static bool nobody_enters(Session& session) {
    bool nobody = true;
    session.statuses().refusals().begin_rehearsal();
    for (const JobId id : session.jobs_to_look_at()) {
      const Job& job = session.model().job(id);
      if (!job.is_pending()) continue;
      nobody = job.min_resources() && !session.ask<JobEnqueueable>(job);
      if (!nobody) break;
    }
    session.statuses().refusals().end_rehearsal(nobody);
    return nobody;
  }
};

}  // namespace

void admit_by_order(Session& session) {
  JobsByQueue work(session, JobsByQueue::Places::kFixed);
  for (const JobId id : session.jobs_to_look_at()) {
    const Job& job = session.model().job(id);
    work.add_queue(job.queue);
    if (job.is_pending()) work.add(id);
  }
  while (!work.queues.empty()) {
    const QueueId queue = work.queues.pop();
    if (!work.has_jobs(queue)) continue;
    const Job& job = session.model().job(work.pop(queue));
    if (!job.min_resources() || session.ask<JobEnqueueable>(job)) {
      session.ask<JobEnqueued>(job);
      session.statuses().set_phase(job.id, GroupPhase::kInqueue);
    }
    work.queues.push(queue);
  }
}

std::unique_ptr<Action> make_enqueue() { return std::make_unique<Enqueue>(); }

}  // namespace scheduler
