// Which waiting groups may have their pods created? (Pending to Inqueue)
#include "scheduler/framework/action.h"
#include "scheduler/framework/queue_heap.h"

namespace scheduler {
namespace {

class Enqueue final : public Action {
 public:
  void run(Session& session) override {
    JobsByQueue work(session);
    for (const JobId id : session.jobs_to_look_at()) {
      const Job& job = session.model().job(id);
      work.add_queue(job.queue);
      if (job.is_pending()) work.add(id);
    }
    while (!work.queues.empty()) {
      const QueueId queue = work.queues.pop();
      if (work.jobs_of(queue).empty()) continue;
      const Job& job = session.model().job(work.jobs_of(queue).pop());
      if (!job.min_resources || session.ask<JobEnqueueable>(job)) {
        session.ask<JobEnqueued>(job);
        session.set_phase(job.id, GroupPhase::kInqueue);
      }
      work.queues.push(queue);
    }
  }
};

}  // namespace

std::unique_ptr<Action> make_enqueue() { return std::make_unique<Enqueue>(); }

}  // namespace scheduler
