// Which pods of a queue give way to a more important group of the same queue?
#include "scheduler/actions/eviction_commit.h"
#include "scheduler/actions/eviction_reasons.h"
#include "scheduler/actions/preempt_dry_run.h"
#include "scheduler/actions/topology_placer.h"
#include "scheduler/actions/victim_search.h"
#include "scheduler/actions/victims.h"
#include "scheduler/framework/action.h"
#include "scheduler/session/eviction_rounds.h"
#include "scheduler/session/queue_heap.h"

namespace scheduler {
namespace {

class Preempt final : public Action {
 public:
  void configure(const Arguments& arguments) override {
    Action::configure(arguments);
    dry_run_ = dry_run_settings(arguments);
    steps_ = search_steps(arguments);
  }
  void run(Session& session) override { Round(session, dry_run_, steps_).run(); }

 private:
  class Round {
   public:
    Round(Session& session, const DryRunSettings& dry_run, std::int64_t steps)
        : session_(session),
          model_(session.model()),
          dry_run_(dry_run),
          costs_(session),
          budget_(steps),
          work_(session, JobsByQueue::Places::kLive),
          hopeless_(session.model()),
          plans_(session, costs_, budget_, "preempt"),
          of_others_(session, costs_, budget_, rule(false)),
          of_own_(session, costs_, budget_, rule(true)) {}

    void run() {
      collect();
      while (!work_.queues.empty()) {
        const QueueId queue = work_.queues.pop();
        std::vector<JobId> jobs;
        while (work_.has_jobs(queue)) {
          const JobId job = work_.pop(queue);
          jobs.push_back(job);
          between_jobs(job);
        }
        for (const JobId job : jobs) within_job(job);
      }
    }

   private:
    void collect() {
      for (const JobId id : session_.jobs_to_look_at()) {
        const Job& job = model_.job(id);
        if (job.is_pending() || job.has_topology_constraint() || session_.ask<JobValid>(job) ||
            !session_.ask<JobStarving>(job))
          continue;
        work_.add(id);
      }
    }

    TaskHeap waiting_tasks(JobId id) {
      TaskHeap tasks = make_task_heap(session_);
      for (const TaskId task_id : model_.job(id).tasks) {
        const Task& task = model_.task(task_id);
        if (task.status == TaskStatus::kPending && !task.gated && task.ours) tasks.push(task_id);
      }
      return tasks;
    }

    EvictionRule rule(bool same_job) {
      return {.action = "preempt",
              .displaceable = [this, same_job](const Task& task,
                                               const Task& other) { return may_displace(task, other, same_job); },
              .may_go = [this](const Task& task,
                               const std::vector<TaskId>& candidates) { return victims_among(task, candidates); },
              .by_score = true};
    }

    std::vector<TaskId> victims_among(const Task& task, const std::vector<TaskId>& candidates) {
      std::vector<TaskId> out = session_.ask<Preemptable>(task, candidates);
      session_.evictions().record_victims(out.size());
      return out;
    }

    void between_jobs(JobId id) {
      if (may_evict_for(session_, id)) evict_by_label_domains(session_, id, [&] { return make_room(id); });
    }

    // True: the plan is made, or taken back by others.
    bool make_room(JobId id) {
      const Job& job = model_.job(id);
      TaskHeap tasks = waiting_tasks(id);
      const Journal::Mark mark = session_.journal().mark();
      TaskId in_vain;
      while (session_.ask<JobStarving>(job) && !tasks.empty()) {
        const Task& task = model_.task(tasks.pop());
        if (!preempt(task, false) && !in_vain.is_set()) in_vain = task.id;
      }
      if (session_.ask<JobPipelined>(job)) {
        if (!plans_.settle(id, mark) || plans_.has_spared()) of_others_.forget();
        return true;
      }
      if (session_.journal().has_operations_since(mark)) of_others_.forget();
      session_.journal().rollback(mark);
      if (!in_vain.is_set()) return false;
      if (dry_run_.enabled)
        report_evictions(session_, id, "preempt finds no node that it could empty");
      else
        explain_in_vain(session_, of_others_, model_.task(in_vain), budget_);
      return false;
    }

    void within_job(JobId id) {
      TaskHeap tasks = waiting_tasks(id);
      while (!tasks.empty()) {
        const Journal::Mark mark = session_.journal().mark();
        const bool found = preempt(model_.task(tasks.pop()), true);
        of_others_.forget();
        if (!found) return session_.journal().rollback(mark);
        if (!plans_.settle(id, mark)) return;
      }
    }

    // Whether the pod may displace anybody at all.
    bool is_eligible(const Task& task) {
      if (task.never_preempts || model_.job(task.job).never_preempts) return false;
      const std::string_view name = model_.text(task.id).nominated_node;
      if (name.empty()) return true;
      const NodeId node = model_.nodes.find(name);
      if (!node.is_set() || !model_.nodes.known().has(node.index)) return false;
      NodeSet one = model_.nodes.known();
      one.clear();
      one.add(node.index);
      if (session_.search().fits_filters(task, node)) return false;
      if (session_.search().candidates(task, Strictness::kEvict, one, nullptr).empty()) return true;
      // A victim of an earlier preemption for this pod is still going.
      for (const TaskId id : model_.nodes[node].tasks) {
        const Task& other = model_.task(id);
        if (is_releasing(other.status) && other.preempted && other.pod_priority < task.pod_priority) return false;
      }
      return true;
    }

    bool preempt(const Task& task, bool same_job) {
      if (!same_job && hopeless_.knows(task)) return false;
      if (!somebody_runs(task, same_job)) return false;
      if (!is_eligible(task) || session_.ask<PrePredicate>(task)) return false;
      const NodeSet nodes =
          session_.search().candidates(task, Strictness::kEvict, nodes_worth_trying(session_, task), nullptr);
      if (dry_run_.enabled) {
        if (preempt_by_dry_run(task, nodes, same_job)) return true;
      } else if (preempt_cheapest(task, nodes, same_job ? of_own_ : of_others_)) {
        return true;
      }
      if (!same_job) hopeless_.record(task);
      return false;
    }

    bool preempt_cheapest(const Task& task, const NodeSet& nodes, VictimSearch& search) {
      const Journal::Mark mark = session_.journal().mark();
      const auto found = search.run(task, nodes, task.job.index);
      if (!found) return false;
      session_.evictions().record_attempt();
      if (session_.journal().pipeline(task.id, found->node, found->victims > 0)) return true;
      session_.journal().rollback(mark);
      search.forget();
      return false;
    }

    // A look at the nodes is in vain if neither the job nor the rest of its queue runs a pod that may be displaced; but
    // a node with room needs no victims.
    bool somebody_runs(const Task& task, bool same_job) {
      const Job& job = model_.job(task.job);
      const bool runs = same_job ? job.count(TaskStatus::kRunning) + job.count(TaskStatus::kBound) > 0
                                 : model_.queue(job.queue).allocated.get(kPods) > job.allocated.get(kPods);
      return runs || some_node_has_room(task);
    }

    bool some_node_has_room(const Task& task) {
      if (full_for_ == task.shape && full_at_ == model_.touched().size()) return false;
      if (scheduler::some_node_has_room(session_.model(), task)) return true;
      full_for_ = task.shape;
      full_at_ = model_.touched().size();
      return false;
    }

    // So far as actions have a say.
    bool may_displace(const Task& task, const Task& other, bool same_job) const {
      if (other.status != TaskStatus::kRunning && other.status != TaskStatus::kBound) return false;
      if (!other.preemptable || !other.job.is_set() || (task.best_effort && !other.best_effort)) return false;
      const Job& job = model_.job(other.job);
      if (same_job && job.disruption == DisruptionMode::kAll) return false;  // the pod would go with it
      return job.has_group && job.queue == model_.job(task.job).queue && (other.job == task.job) == same_job;
    }

    // The best of the nodes that take the pod as things are: nobody has to go.
    NodeId free_node(const Task& task, NodeSet nodes) {
      if (!session_.ask<Allocatable>(model_.queue(model_.job(task.job).queue), task)) return {};
      const NodeSet all = nodes;
      all.for_each([&](std::uint32_t n) {
        const NodeId node{n};
        if (!fits_future(session_.model(), task, node) || !session_.search().fits_filters(task, node)) nodes.remove(n);
      });
      return nodes.empty() ? NodeId{} : session_.search().ranked(task, nodes).front();
    }

    bool preempt_by_dry_run(const Task& task, const NodeSet& nodes, bool same_job) {
      if (const NodeId node = free_node(task, nodes); node.is_set())
        return session_.journal().pipeline(task.id, node, false);
      const auto choice = choose_by_dry_run(session_, task, nodes, dry_run_, (same_job ? of_own_ : of_others_).rule());
      if (!choice) return false;
      const Journal::Mark mark = session_.journal().mark();
      session_.evictions().record_victims(choice->victims.size());
      session_.evictions().record_attempt();
      for (const TaskId victim : choice->victims) session_.journal().evict(victim, "preempt", task.job);
      if (session_.journal().pipeline(task.id, choice->node, true)) return true;
      session_.journal().rollback(mark);
      return false;
    }

    Session& session_;
    Model& model_;
    const DryRunSettings& dry_run_;
    EvictionCosts costs_;
    SearchBudget budget_;
    JobsByQueue work_;
    Hopeless hopeless_;
    EvictionPlans plans_;
    VictimSearch of_others_, of_own_;
    ShapeId full_for_;  // no node had room for this shape when so many nodes had been touched
    std::size_t full_at_ = 0;
  };

  DryRunSettings dry_run_;
  std::int64_t steps_ = SearchBudget::kStepsDefault;
};

}  // namespace

std::unique_ptr<Action> make_preempt() { return std::make_unique<Preempt>(); }

}  // namespace scheduler
