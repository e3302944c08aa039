// Which waiting pods get which nodes? Groups start whole or not at all.
#include <algorithm>
#include <unordered_map>

#include "scheduler/actions/topology_placer.h"
#include "scheduler/framework/action.h"
#include "scheduler/session/eviction_rounds.h"
#include "scheduler/session/session_topology.h"

namespace scheduler {
namespace {

class Allocate final : public Action {
 public:
  explicit Allocate(std::unique_ptr<const DomainBounds> bounds) : bounds_(std::move(bounds)) {}
  void run(Session& session) override {
    Round round(session, *bounds_);
    round.collect();
    round.place_beneficiaries();
    round.drain();
  }

 private:
  class Round {
   public:
    Round(Session& session, const DomainBounds& bounds)
        : session_(session),
          model_(session.model()),
          work_(session, JobsByQueue::Places::kFixed),
          topology_(session, bounds),
          by_label_(session, bounds) {}

    void collect() {
      const bool enqueue_runs = session_.input().config.has_action("enqueue");
      const std::vector<JobId> jobs = session_.jobs_to_look_at();
      for (std::size_t i = 0; i < jobs.size(); ++i) {
        if (i + kJobsAhead < jobs.size()) model_.prefetch_lists(jobs[i + kJobsAhead]);
        const JobId id = jobs[i];
        const Job& job = model_.job(id);
        if (job.is_pending()) {
          if (enqueue_runs) continue;
          session_.statuses().set_phase(id, GroupPhase::kInqueue);
        }
        if (session_.ask<JobValid>(job)) continue;
        if (job.has_topology_constraint() && !model_.hyper_nodes.is_ready()) {
          session_.problems().of(id).text = "the network topology is not known: " + model_.hyper_nodes.problem();
          continue;
        }
        const auto placeable = [&](TaskId task) { return is_placeable(model_, task); };
        if (goes_by_topology(job)) {
          Worksheet sheet = make_worksheet(session_, id, placeable);
          if (sheet.empty()) continue;
          sheets_.emplace(id.index, std::move(sheet));
        } else if (!has_placeable(id)) {
          continue;
        }
        work_.add(id);
        if (is_beneficiary(session_, id)) beneficiaries_.push_back(id);
      }
    }

    // Room that was made for a group is not given to others before it; least of all to those who were evicted.
    // DIFFERS(room-for-beneficiaries): docs/compat says why.
    void place_beneficiaries() {
      std::stable_sort(beneficiaries_.begin(), beneficiaries_.end(),
                       [&](JobId a, JobId b) { return session_.job_before(model_.job(a), model_.job(b)); });
      for (const JobId id : beneficiaries_) {
        if (session_.ask<Overused>(model_.queue(model_.job(id).queue))) continue;
        if (!place(id) && has_placeable(id)) forget_attempts(session_, id);
      }
    }

    void drain() {
      while (!work_.queues.empty()) {
        const QueueId queue = work_.queues.pop();
        if (session_.ask<Overused>(model_.queue(queue))) {
          session_.problems().record_overused(queue);
          continue;
        }
        if (!work_.has_jobs(queue)) continue;
        const JobId job = work_.pop(queue);
        if (has_placeable(job) && place(job)) work_.add(job);
        work_.queues.push(queue);
      }
    }

   private:
    static constexpr std::size_t kJobsAhead = 8;

    bool has_placeable(JobId id) const {
      const std::vector<TaskId>& tasks = model_.job(id).tasks;
      return std::any_of(tasks.begin(), tasks.end(), [&](TaskId task) { return is_placeable(model_, task); });
    }

    bool place(JobId job) { return goes_by_topology(model_.job(job)) ? place_by_topology(job) : place_anywhere(job); }

    static bool goes_by_topology(const Job& job) {
      return job.topology != nullptr && (job.topology->has_hard_constraint() || !job.topology->policies.empty());
    }

    // The tasks of the job that are left; all that waits, at first.
    TaskHeap take_tasks(JobId job) {
      if (auto left = left_.extract(job.index)) return std::move(left.mapped());
      TaskHeap out = make_task_heap(session_);
      for (const TaskId task : model_.job(job).tasks) {
        if (is_placeable(model_, task)) out.push(task);
      }
      return out;
    }

    // True when the job started and has more to place. Placements that are promised but not ready stay uncommitted
    // until the close.
    bool place_anywhere(JobId job) {
      TaskHeap tasks = take_tasks(job);
      const Journal::Mark mark = session_.journal().mark();
      const DomainId nominated = session_.nominations().domain(job, 0);
      const bool placed = (nominated.is_set() && placer_.place_nominated({job, 0, nominated}, tasks, mark)) ||
                          (model_.job(job).extras().domain_key.is_set() ? by_label_.place_tasks(job, tasks, mark)
                                                                        : placer_.place_tasks({job}, tasks, mark));
      if (!placed || !session_.ask<JobReady>(model_.job(job))) return false;
      session_.journal().commit(mark);
      session_.nominations().nominate(job, 0, DomainId{});
      if (tasks.empty()) return false;
      left_.emplace(job.index, std::move(tasks));
      return true;
    }

    bool place_by_topology(JobId job) {
      Worksheet& sheet = sheets_.at(job.index);
      const Journal::Mark mark = session_.journal().mark();
      if (!topology_.place_job(job, sheet) || !session_.ask<JobReady>(model_.job(job))) return false;
      session_.journal().commit(mark);
      topology_.keep_decision(job);
      return !sheet.empty();
    }

    Session& session_;
    Model& model_;
    JobsByQueue work_;
    Placer placer_{session_};
    TopologyPlacer topology_;
    LabelDomainPlacer by_label_;
    std::unordered_map<std::uint32_t, TaskHeap> left_;     // by job: what did not start with it
    std::unordered_map<std::uint32_t, Worksheet> sheets_;  // of jobs that go by topology
    std::vector<JobId> beneficiaries_;                     // of evictions in earlier cycles
  };

  std::unique_ptr<const DomainBounds> bounds_;
};

}  // namespace

std::unique_ptr<Action> make_allocate_with(std::unique_ptr<const DomainBounds> bounds) {
  return std::make_unique<Allocate>(std::move(bounds));
}
std::unique_ptr<Action> make_allocate() { return make_allocate_with(std::make_unique<DomainBounds>()); }

}  // namespace scheduler
