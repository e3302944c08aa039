// Which pods must give back what other queues deserve?
#include "scheduler/actions/eviction_commit.h"
#include "scheduler/actions/eviction_reasons.h"
#include "scheduler/actions/topology_placer.h"
#include "scheduler/actions/victim_search.h"
#include "scheduler/actions/victims.h"
#include "scheduler/framework/action.h"
#include "scheduler/session/eviction_rounds.h"
#include "scheduler/session/queue_heap.h"

namespace scheduler {
namespace {

class Reclaim final : public Action {
 public:
  void configure(const Arguments& arguments) override {
    Action::configure(arguments);
    steps_ = search_steps(arguments);
  }
  void run(Session& session) override { Round(session, steps_).run(); }

 private:
  class Round {
   public:
    Round(Session& session, std::int64_t steps)
        : session_(session),
          model_(session.model()),
          costs_(session),
          budget_(steps),
          work_(session, JobsByQueue::Places::kLive),
          hopeless_(session.model()),
          plans_(session, costs_, budget_, "reclaim"),
          search_(session, costs_, budget_,
                  {.action = "reclaim",
                   .displaceable = [this](const Task& task, const Task& other) { return is_reclaimable(task, other); },
                   .may_go =
                       [this](const Task& task, const std::vector<TaskId>& candidates) {
                         return session_.ask<Reclaimable>(task, candidates);
                       }}) {}

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
        while (work_.has_jobs(queue)) {
          const JobId job = work_.pop(queue);
          if (may_evict_for(session_, job)) evict_by_label_domains(session_, job, [&] { return reclaim_for_job(job); });
        }
      }
    }

   private:
    // True: the plan is made, or taken back by others.
    bool reclaim_for_job(JobId id) {
      const Job& job = model_.job(id);
      TaskHeap tasks = make_task_heap(session_);
      for (const TaskId task_id : job.tasks) {
        const Task& task = model_.task(task_id);
        if (task.status == TaskStatus::kPending && !task.gated && task.ours) tasks.push(task_id);
      }
      const Journal::Mark mark = session_.journal().mark();
      TaskId in_vain;
      while (session_.ask<JobStarving>(job) && !tasks.empty()) {
        const Task& task = model_.task(tasks.pop());
        if (task.never_preempts || job.never_preempts || hopeless_.knows(task)) continue;
        if (!session_.ask<Preemptive>(model_.queue(job.queue), std::vector<TaskId>{task.id})) continue;
        if (session_.ask<PrePredicate>(task) || reclaim_for_task(task)) continue;
        hopeless_.record(task);
        if (!in_vain.is_set()) in_vain = task.id;
      }
      if (session_.ask<JobPipelined>(job)) {
        if (!plans_.settle(id, mark) || plans_.has_spared()) search_.forget();
        return true;
      }
      if (session_.journal().has_operations_since(mark)) search_.forget();
      session_.journal().rollback(mark);
      if (in_vain.is_set()) explain_in_vain(session_, search_, model_.task(in_vain), budget_);
      return false;
    }

    bool reclaim_for_task(const Task& task) {
      const std::uint64_t queue = model_.job(task.job).queue.index;
      NodeSet nodes;
      if (!search_.is_priced(task, queue)) {
        nodes = session_.search().candidates(task, Strictness::kEvict, nodes_worth_trying(session_, task), nullptr);
      }
      const Journal::Mark mark = session_.journal().mark();
      const auto found = search_.run(task, nodes, queue);
      if (!found) return false;
      if (session_.journal().pipeline(task.id, found->node, found->victims > 0)) return true;
      session_.journal().rollback(mark);
      search_.forget();
      return false;
    }

    bool is_reclaimable(const Task& task, const Task& other) const {
      if (other.status != TaskStatus::kRunning || !other.preemptable || !other.job.is_set()) return false;
      const Job& job = model_.job(other.job);
      // Pods of a deleted group only count: whether one can be spared is not known any more.
      return job.has_group && job.queue.is_set() && job.queue != model_.job(task.job).queue &&
             model_.queue(job.queue).in_use && model_.queue(job.queue).reclaimable;
    }

    Session& session_;
    Model& model_;
    EvictionCosts costs_;
    SearchBudget budget_;
    JobsByQueue work_;
    Hopeless hopeless_;
    EvictionPlans plans_;
    VictimSearch search_;
  };

  std::int64_t steps_ = SearchBudget::kStepsDefault;
};

}  // namespace

std::unique_ptr<Action> make_reclaim() { return std::make_unique<Reclaim>(); }

}  // namespace scheduler
