// Which waiting pods get which nodes? Groups start whole or not at all.
#include <unordered_map>

#include "base/format.h"
#include "scheduler/framework/action.h"
#include "scheduler/framework/queue_heap.h"

namespace scheduler {
namespace {

class Allocate final : public Action {
 public:
  void run(Session& session) override {
    Round round(session);
    round.collect();
    round.drain();
  }

 private:
  class Round {
   public:
    explicit Round(Session& session) : session_(session), model_(session.model()), work_(session) {}

    void collect() {
      const bool enqueue_runs = session_.config().has_action("enqueue");
      for (const JobId id : session_.jobs_to_look_at()) {
        const Job& job = model_.job(id);
        if (job.is_pending()) {
          if (enqueue_runs) continue;
          session_.set_phase(id, GroupPhase::kInqueue);
        }
        if (session_.ask<JobValid>(job)) continue;
        if (job.has_topology) {
          session_.trouble(id).text = "placement by network topology or subgroups is not available in this release";
          continue;
        }
        TaskHeap tasks = make_task_heap(session_);
        for (const TaskId task_id : job.tasks) {
          const Task& task = model_.task(task_id);
          if (task.status != TaskStatus::kPending || task.best_effort || !model_.text(task_id).ours) continue;
          if (task.gated && !task.queue_gate_only) continue;
          tasks.push(task_id);
        }
        if (tasks.empty()) continue;
        tasks_.emplace(id.index, std::move(tasks));
        work_.add(id);
      }
    }

    void drain() {
      while (!work_.queues.empty()) {
        const QueueId queue = work_.queues.pop();
        if (session_.ask<Overused>(model_.queue(queue)) || work_.jobs_of(queue).empty()) continue;
        const JobId job = work_.jobs_of(queue).pop();
        TaskHeap& tasks = tasks_.at(job.index);
        const Session::Mark mark = session_.mark();
        if (place_tasks(job, tasks, mark) && session_.ask<JobReady>(model_.job(job))) {
          session_.commit(mark);
          if (!tasks.empty()) work_.jobs_of(queue).push(job);
        }
        work_.queues.push(queue);
      }
    }

   private:
    // True when what was placed since `mark` is worth keeping: the job is ready, or would be once capacity is released.
    bool place_tasks(JobId id, TaskHeap& tasks, Session::Mark mark) {
      const Job& job = model_.job(id);
      while (!tasks.empty()) {
        const TaskId task = tasks.pop();
        const Outcome outcome = place_task(job, model_.task(task));
        if (outcome == Outcome::kFailed && !worth_going_on(job)) break;
        if (outcome == Outcome::kPlaced && session_.ask<JobReady>(job)) break;
      }
      if (session_.ask<JobReady>(job) || session_.ask<JobPipelined>(job)) return true;
      session_.rollback(mark);
      return false;
    }

    enum class Outcome : std::uint8_t { kPlaced, kSkipped, kFailed };

    Outcome place_task(const Job& job, const Task& task) {
      if (!session_.ask<Allocatable>(model_.queue(job.queue), task)) return Outcome::kSkipped;
      if (task.gated) {
        session_.remove_queue_gate(task);
        return Outcome::kSkipped;
      }
      const Role& role = job.roles[task.role];
      const JobTrouble* trouble = session_.find_trouble(job.id);
      if (trouble != nullptr && !role.name.empty() && task.role < trouble->failed_roles.size() &&
          trouble->failed_roles[task.role]) {
        FitErrors errors;
        errors.set_text(base::format("Task {} with role spec {} has already predicated failed, skip", model_.text(task.id).name,
                                     role.name));
        record(job, task, std::move(errors));
        return Outcome::kSkipped;
      }
      if (Refusal refusal = session_.ask<PrePredicate>(task)) {
        FitErrors errors;
        errors.set_node_count(model_.nodes.known_count());
        errors.add(refusal.message, model_.nodes.known_count());
        record(job, task, std::move(errors));
        return Outcome::kFailed;
      }
      FitErrors errors;
      std::optional<NodeChoice> choice = nominated(task);
      if (!choice) choice = session_.search().find(task, nullptr, errors);
      if (!choice) {
        record(job, task, std::move(errors));
        return Outcome::kFailed;
      }
      const bool placed = choice->future ? session_.pipeline(task.id, choice->node, false)
                                         : session_.allocate(task.id, choice->node);
      return placed ? Outcome::kPlaced : Outcome::kSkipped;
    }

    std::optional<NodeChoice> nominated(const Task& task) {
      const std::string& name = model_.text(task.id).nominated_node;
      if (name.empty()) return std::nullopt;
      const NodeId node = model_.nodes.find(name);
      if (!node.is_set() || !model_.nodes.known().has(node.index) || !session_.search().fits_future(task, node)) {
        return std::nullopt;
      }
      NodeSet only = model_.nodes.known();
      only.clear();
      only.add(node.index);
      FitErrors ignored;
      return session_.search().find(task, &only, ignored);
    }

    void record(const Job& job, const Task& task, FitErrors errors) {
      JobTrouble& trouble = session_.trouble(job.id);
      if (trouble.failed_roles.size() <= task.role) trouble.failed_roles.resize(task.role + 1);
      trouble.failed_roles[task.role] = true;
      trouble.by_task.insert_or_assign(model_.text(task.id).name, std::move(errors));
    }

    // Whether the rest of the job may still be placed after one task found no node.
    bool worth_going_on(const Job& job) {
      if (job.min_available >= job.task_count()) return false;
      const JobTrouble& trouble = session_.trouble(job.id);
      const auto failed = [&](std::size_t role) { return role < trouble.failed_roles.size() && trouble.failed_roles[role]; };
      if (job.min_available < job.roles_min_total) {
        std::int32_t hopeful = job.ready_count();
        for (std::size_t i = 0; i < job.roles.size(); ++i) {
          if (!failed(i)) hopeful += count_of(job.roles[i].counts, TaskStatus::kPending);
        }
        return hopeful >= job.min_available;
      }
      for (std::size_t i = 0; i < job.roles.size(); ++i) {
        const Role& role = job.roles[i];
        if (failed(i) && role.min > 0 && role.occupied() + role.pending_best_effort < role.min) return false;
      }
      return true;
    }

    Session& session_;
    Model& model_;
    JobsByQueue work_;
    std::unordered_map<std::uint32_t, TaskHeap> tasks_;
  };
};

}  // namespace

std::unique_ptr<Action> make_allocate() { return std::make_unique<Allocate>(); }

}  // namespace scheduler
