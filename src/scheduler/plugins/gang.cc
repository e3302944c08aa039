// Gang: a group holds at least its minimum of tasks, or none at all.
#include <algorithm>
#include <utility>
#include <vector>

#include "base/format.h"
#include "scheduler/framework/plugin.h"
#include "scheduler/framework/session.h"

namespace scheduler {
namespace {

Refusal validate(const Job& job) {
  if (!job.roles_valid()) return {"NotEnoughPodsOfTask", "Not enough valid pods of each task for gang-scheduling"};
  if (job.valid_count() < job.min_available) {
    return {"NotEnoughTasks", base::format("Not enough valid tasks for gang-scheduling, valid: {}, min: {}", job.valid_count(),
                                           job.min_available)};
  }
  return {};
}

class Gang final : public Plugin {
 public:
  void attach(PluginSetup& setup) override {
    Model& model = setup.model();
    setup.on<JobValid>(validate);
    setup.on<JobOrder>([](const Job& a, const Job& b) { return int{a.is_ready()} - int{b.is_ready()}; });
    setup.on<JobReady>([](const Job& job) { return job.roles_ready() && job.is_ready(); });
    setup.on<JobPipelined>(
        [](const Job& job) { return job.roles_pipelined() && job.is_pipelined() ? Vote::kPermit : Vote::kReject; });
    setup.on<JobStarving>([](const Job& job) { return job.is_starving(); });
    const auto spare = [&model](const Task&, const std::vector<TaskId>& candidates) { return spare_tasks(model, candidates); };
    setup.on<Preemptable>(spare);
    setup.on<Reclaimable>(spare);
  }

  void close(Session& session) override {
    for (const JobId id : session.jobs_to_close()) {
      const Job& job = session.model().job(id);
      if (job.tasks.empty()) continue;
      if (job.is_ready()) session.set_condition(id, "Scheduled", "tasks in gang are ready to be scheduled", "");
      else explain(session, job);
    }
  }

 private:
  // A group can lose the tasks above its minimum, and no others; the order of the candidates decides which.
  static Victims spare_tasks(const Model& model, const std::vector<TaskId>& candidates) {
    std::vector<std::pair<JobId, std::int32_t>> left;  // few jobs share a node
    Victims out;
    for (const TaskId id : candidates) {
      const Task& task = model.task(id);
      if (!task.job.is_set()) continue;
      const Job& job = model.job(task.job);
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
      if (session.was_placed_and_discarded(session.model().task(id))) ++schedulable;
    }
    session.set_condition(job.id, "Unschedulable", "NotEnoughResources",
                          base::format("{}/{} tasks in gang unschedulable: {}", job.min_available - schedulable,
                                       job.task_count(), session.job_text(job)));
  }
};

}  // namespace

std::unique_ptr<Plugin> make_gang() { return std::make_unique<Gang>(); }

}  // namespace scheduler
