// Which waiting pods get which nodes? Groups start whole or not at all.
#include <unordered_map>

#include "scheduler/actions/topology_placer.h"
#include "scheduler/framework/action.h"

namespace scheduler {
namespace {

class Allocate final : public Action {
 public:
  explicit Allocate(std::unique_ptr<const DomainBounds> bounds) : bounds_(std::move(bounds)) {}
  void run(Session& session) override {
    Round round(session, *bounds_);
    round.collect();
    round.drain();
  }

 private:
  class Round {
   public:
    Round(Session& session, const DomainBounds& bounds)
        : session_(session), model_(session.model()), work_(session), topology_(session, bounds) {}

    void collect() {
      const bool enqueue_runs = session_.config().has_action("enqueue");
      for (const JobId id : session_.jobs_to_look_at()) {
        const Job& job = model_.job(id);
        if (job.is_pending()) {
          if (enqueue_runs) continue;
          session_.set_phase(id, GroupPhase::kInqueue);
        }
        if (session_.ask<JobValid>(job)) continue;
        if (job.wishes_topology() && !model_.hyper_nodes.is_ready()) {
          session_.trouble(id).text = "the network topology is not known: " + model_.hyper_nodes.problem();
          continue;
        }
        const auto placeable = [&](TaskId task) { return is_placeable(model_, task); };
        if (goes_by_topology(job)) {
          Worksheet sheet = make_worksheet(session_, id, placeable);
          if (sheet.empty()) continue;
          sheets_.emplace(id.index, std::move(sheet));
        } else {
          TaskHeap tasks = make_task_heap(session_);
          for (const TaskId task : job.tasks) {
            if (placeable(task)) tasks.push(task);
          }
          if (tasks.empty()) continue;
          tasks_.emplace(id.index, std::move(tasks));
        }
        work_.add(id);
      }
    }

    void drain() {
      while (!work_.queues.empty()) {
        const QueueId queue = work_.queues.pop();
        if (session_.ask<Overused>(model_.queue(queue))) {
          session_.note_overused(queue);
          continue;
        }
        if (work_.jobs_of(queue).empty()) continue;
        const JobId job = work_.jobs_of(queue).pop();
        if (goes_by_topology(model_.job(job)) ? place_by_topology(job) : place_anywhere(job))
          work_.jobs_of(queue).push(job);
        work_.queues.push(queue);
      }
    }

   private:
    static bool goes_by_topology(const Job& job) {
      return job.topology != nullptr && (job.topology->wishes_hard() || !job.topology->policies.empty());
    }

    // True when the job started and has more to place. What is not ready but promised stays uncommitted until the
    // close.
    bool place_anywhere(JobId job) {
      TaskHeap& tasks = tasks_.at(job.index);
      const Session::Mark mark = session_.mark();
      const DomainId nominated = session_.nominated_domain(job, 0);
      const bool placed = (nominated.is_set() && placer_.place_nominated({job, 0, nominated}, tasks, mark)) ||
                          placer_.place_tasks({job}, tasks, mark);
      if (!placed || !session_.ask<JobReady>(model_.job(job))) return false;
      session_.commit(mark);
      session_.nominate_domain(job, 0, DomainId{});
      return !tasks.empty();
    }

    bool place_by_topology(JobId job) {
      Worksheet& sheet = sheets_.at(job.index);
      const Session::Mark mark = session_.mark();
      if (!topology_.place_job(job, sheet) || !session_.ask<JobReady>(model_.job(job))) return false;
      session_.commit(mark);
      topology_.keep_decision(job);
      return !sheet.empty();
    }

    Session& session_;
    Model& model_;
    JobsByQueue work_;
    Placer placer_{session_};
    TopologyPlacer topology_;
    std::unordered_map<std::uint32_t, TaskHeap> tasks_;    // by job
    std::unordered_map<std::uint32_t, Worksheet> sheets_;  // of jobs that go by topology
  };

  std::unique_ptr<const DomainBounds> bounds_;
};

}  // namespace

std::unique_ptr<Action> make_allocate_with(std::unique_ptr<const DomainBounds> bounds) {
  return std::make_unique<Allocate>(std::move(bounds));
}
std::unique_ptr<Action> make_allocate() { return make_allocate_with(std::make_unique<DomainBounds>()); }

}  // namespace scheduler
