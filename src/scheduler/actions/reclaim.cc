// Who must give back what other queues deserve?
#include "scheduler/actions/victims.h"
#include "scheduler/framework/action.h"
#include "scheduler/session/queue_heap.h"

namespace scheduler {
namespace {

class Reclaim final : public Action {
 public:
  void run(Session& session) override { Round(session).run(); }

 private:
  class Round {
   public:
    explicit Round(Session& session)
        : session_(session),
          model_(session.model()),
          work_(session, JobsByQueue::Places::kLive),
          hopeless_(session.model()) {}

    void run() {
      for (const JobId id : session_.jobs_to_look_at()) {
        const Job& job = model_.job(id);
        if (job.is_pending() || session_.ask<JobValid>(job)) continue;
        work_.add_queue(job.queue);
        if (session_.ask<JobStarving>(job)) work_.add(id);
      }
      while (!work_.queues.empty()) {
        const QueueId queue = work_.queues.pop();
        if (session_.ask<Overused>(model_.queue(queue))) continue;
        while (work_.has_jobs(queue)) reclaim_for_job(work_.pop(queue));
      }
    }

   private:
    void reclaim_for_job(JobId id) {
      const Job& job = model_.job(id);
      TaskHeap tasks = make_task_heap(session_);
      for (const TaskId task_id : job.tasks) {
        const Task& task = model_.task(task_id);
        if (task.status == TaskStatus::kPending && !task.gated && task.ours) tasks.push(task_id);
      }
      const Session::Mark mark = session_.mark();
      while (session_.ask<JobStarving>(job) && !tasks.empty()) {
        const Task& task = model_.task(tasks.pop());
        if (task.never_preempts || hopeless_.knows(task)) continue;
        if (!session_.ask<Preemptive>(model_.queue(job.queue), std::vector<TaskId>{task.id})) continue;
        if (session_.ask<PrePredicate>(task)) continue;
        if (!reclaim_for_task(task)) hopeless_.note(task);
      }
      if (session_.ask<JobPipelined>(job)) {
        session_.commit(mark);
      } else {
        session_.rollback(mark);
        tried_ = {};
      }
    }

    bool reclaim_for_task(const Task& task) {
      const NodeSet nodes =
          session_.search().candidates(task, Strictness::kEvict, nodes_worth_trying(session_, task), nullptr);
      // Nodes that gave nothing for an equal pod of this queue give nothing now: evictions since took candidates away,
      // and nothing was given back.
      const Tried own{task.shape, model_.pods.label_set(task.labels).signature, model_.job(task.job).queue, 0};
      if (!own.same_as(tried_)) tried_ = own;
      std::vector<NodeId> order;
      nodes.for_each([&](std::uint32_t n) { order.push_back(NodeId{n}); });
      session_.search().own_first(order);
      const bool is_ascending = model_.shards.mode != ShardingMode::kSoft;
      for (const NodeId node : order) {
        if (is_ascending && node.index < tried_.nodes_below) continue;
        if (try_node(task, node)) return true;
        tried_.nodes_below = node.index + 1;
      }
      return false;
    }

    struct Tried {
      ShapeId shape;
      std::uint32_t signature = 0;
      QueueId queue;
      std::uint32_t nodes_below = 0;  // all of them gave nothing
      bool same_as(const Tried& other) const {
        return shape == other.shape && signature == other.signature && queue == other.queue;
      }
    };

    bool try_node(const Task& task, NodeId node) {
      const QueueId queue = model_.job(task.job).queue;
      const std::vector<TaskId> candidates = tasks_on(session_, node, [&](const Task& other) {
        if (other.status != TaskStatus::kRunning || !other.preemptable || !other.job.is_set()) return false;
        const Job& job = model_.job(other.job);
        return job.queue.is_set() && job.queue != queue && model_.queue(job.queue).in_use &&
               model_.queue(job.queue).reclaimable;
      });
      if (candidates.empty()) return false;
      std::vector<TaskId> victims = session_.ask<Reclaimable>(task, candidates);
      if (!victims_suffice(session_, task, node, victims)) return false;
      auto heap = session_.victim_heap(task, victims);
      const Session::Mark mark = session_.mark();
      while (!session_.search().fits_future(task, node) && !heap.empty())
        session_.evict(heap.pop(), "reclaim", task.job);
      if (session_.search().fits_future(task, node) && session_.pipeline(task.id, node, heap.size() < victims.size()))
        return true;
      session_.rollback(mark);
      return false;
    }

    Session& session_;
    Model& model_;
    JobsByQueue work_;
    Hopeless hopeless_;
    Tried tried_;
  };
};

}  // namespace

std::unique_ptr<Action> make_reclaim() { return std::make_unique<Reclaim>(); }

}  // namespace scheduler
