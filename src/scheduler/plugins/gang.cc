// Gang: a group holds at least its minimum of tasks, or none at all.
#include <algorithm>
#include <utility>
#include <vector>

#include "base/format.h"
#include "scheduler/framework/plugin.h"
#include "scheduler/session/session.h"

namespace scheduler {
namespace {

Refusal validate(const Job& job) {
  if (!job.roles_valid()) return {"NotEnoughPodsOfTask", "Not enough valid pods of each task for gang-scheduling"};
  if (job.topology && !job.topology->enough_sub_jobs([](const SubJob&) { return true; })) {
    return {"NotEnoughPodsOfTask", "Not enough valid subGroups of each task for gang-scheduling"};
  }
  if (job.valid_count() < job.min_available) {
    return {"NotEnoughTasks", base::format("Not enough valid tasks for gang-scheduling, valid: {}, min: {}",
                                           job.valid_count(), job.min_available)};
  }
  return {};
}

class Gang final : public Plugin {
 public:
  void attach(PluginSetup& setup) override {
    Model& model = setup.model();
    setup.on<JobValid>(validate);
    const bool repairs = setup.arguments().get_bool("brokenGangsFirst", true);
    setup.on<JobOrder>([repairs](const Job& job) {
      // A gang that lost a member does no work before it is whole again.
      // DIFFERS(broken-gangs): docs/compat says why.
      return job.is_ready() ? std::int64_t{1} : repairs && job.is_broken() ? -1 : 0;
    });
    setup.on<SubJobOrder>([](const SubJob& a, const SubJob& b) { return int{a.is_ready()} - int{b.is_ready()}; });
    setup.on<JobReady>([](const Job& job) {
      return job.roles_ready() && job.is_ready() &&
             (!job.topology || job.topology->enough_sub_jobs([](const SubJob& one) { return one.is_ready(); }));
    });
    setup.on<SubJobReady>([](const Job&, const SubJob& part) { return part.is_ready(); });
    setup.on<JobPipelined>([](const Job& job) {
      const bool enough =
          job.roles_pipelined() && job.is_pipelined() &&
          (!job.topology || job.topology->enough_sub_jobs([](const SubJob& one) { return one.is_pipelined(); }));
      return enough ? Vote::kPermit : Vote::kReject;
    });
    setup.on<SubJobPipelined>(
        [](const Job&, const SubJob& part) { return part.is_pipelined() ? Vote::kPermit : Vote::kReject; });
    // Bundles protect gangs already.
    setup.on<UnifiedEvictable>(
        [](const GangEviction&, const std::vector<TaskId>& candidates) { return Victims{candidates}; });
    // If gang decides on both, a job that lacks so many placements is neither ready nor promised.
    const bool decides_jobs = setup.is_on("enableJobReady") && setup.is_on("enableJobPipelined");
    const bool decides_parts = setup.is_on("enabledSubJobReady") && setup.is_on("enabledSubJobPipelined");
    setup.on<PlacementsMissing>([decides_jobs, decides_parts](const Job& job, std::uint32_t part) {
      if (part == kWholeJob || !job.has_sub_groups()) {
        return decides_jobs ? job.min_available - job.waiting_count() - job.ready_count() - job.pending_best_effort : 0;
      }
      const SubJob& one = job.topology->sub_jobs[part];
      const std::int32_t waiting = count_of(one.counts, TaskStatus::kPipelined);
      return decides_parts ? one.min_available - waiting - one.ready_count() - one.pending_best_effort : 0;
    });
    setup.on<JobStarving>([](const Job& job) { return job.is_starving(); });
    const auto spare = [&model](const Task&, const std::vector<TaskId>& candidates) {
      return spare_tasks(model, candidates);
    };
    setup.on<Preemptable>(spare);
    setup.on<Reclaimable>(spare);
  }

  void close(Session& session) override {
    for (const JobId id : session.statuses().jobs_to_close()) {
      const Job& job = session.model().job(id);
      // COMPAT(held-groups-say-why): its pods are made when it is admitted, and people look at it while there are none.
      const bool awaits_pods = job.is_pending() || job.phase == GroupPhase::kInqueue;
      if (job.tasks.empty() && (!job.has_group || !awaits_pods || job.is_ready())) continue;
      // Without a minimum a group is ready from the start, and waits all the same until it is let in.
      const bool is_held = job.is_pending() && job.count(TaskStatus::kPending) > 0;
      if (job.is_ready() && !is_held)
        session.statuses().set_condition(id, "Scheduled", "tasks in gang are ready to be scheduled", "");
      else
        explain(session, job);
    }
  }

 private:
  // A group can lose the tasks above its minimum, and no others, unless it says how it is disrupted; the order of the
  // candidates decides which.
  static Victims spare_tasks(const Model& model, const std::vector<TaskId>& candidates) {
    std::vector<std::pair<JobId, std::int32_t>> left;  // few jobs share a node
    Victims out;
    for (const TaskId id : candidates) {
      const Task& task = model.task(id);
      if (!task.job.is_set()) continue;
      const Job& job = model.job(task.job);
      if (job.disruption != DisruptionMode::kSpare) {
        out.tasks.push_back(id);
        continue;
      }
      auto slot = std::find_if(left.begin(), left.end(), [&](const auto& pair) { return pair.first == task.job; });
      if (slot == left.end()) slot = left.insert(left.end(), {task.job, job.ready_count()});
      if (slot->second <= job.min_available) continue;
      --slot->second;
      out.tasks.push_back(id);
    }
    return out;
  }

  static void explain(Session& session, const Job& job) {
    const bool winding_down = job.releasing_on_node > 0 && job.count(TaskStatus::kPending) == 0 &&
                              job.count(TaskStatus::kPipelined) == 0 &&
                              job.scheduled_count() + job.releasing_on_node >= job.min_available;
    if (winding_down) return;
    std::int32_t schedulable = job.ready_count();
    for (const TaskId id : job.tasks) {
      if (was_placed_and_discarded(session.model().task(id), session.input().cycle)) ++schedulable;
    }
    const bool lapsed = session.input().lapsed_reserves.lacks_pods(job.id);
    session.statuses().set_condition(job.id, "Unschedulable", lapsed ? kReserveLapsed : "NotEnoughResources",
                                     session.statuses().waiting_text(job, job.min_available - schedulable));
  }
};

}  // namespace

std::unique_ptr<Plugin> make_gang() { return std::make_unique<Gang>(); }

}  // namespace scheduler
