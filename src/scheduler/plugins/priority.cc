// Priority: what is more important goes first, and may displace what is less.
#include "scheduler/framework/plugin.h"
#include "scheduler/model/model.h"

namespace scheduler {
namespace {

int higher_first(std::int32_t a, std::int32_t b) { return a > b ? -1 : a < b ? 1 : 0; }

class Priority final : public Plugin {
 public:
  void attach(PluginSetup& setup) override {
    Model& model = setup.model();
    setup.on<TaskOrder>([](const Task& a, const Task& b) { return higher_first(a.priority, b.priority); });
    setup.on<JobOrder>([](const Job& job) { return -std::int64_t{job.priority}; });
    setup.on<SubJobOrder>([](const SubJob& a, const SubJob& b) { return higher_first(a.priority, b.priority); });
    setup.on<UnifiedEvictable>([&model](const GangEviction& eviction, const std::vector<TaskId>& candidates) {
      if (eviction.purpose != EvictPurpose::kGangPreempt) return Victims{candidates};
      Victims out;
      for (const TaskId id : candidates) {
        const JobId job = model.task(id).job;
        if (job.is_set() && model.job(job).priority < model.job(eviction.beneficiary).priority) out.tasks.push_back(id);
      }
      return out;
    });
    setup.on<JobStarving>([](const Job& job) { return job.ready_count() + job.waiting_count() < job.task_count(); });
    setup.on<Preemptable>([&model](const Task& preemptor, const std::vector<TaskId>& candidates) {
      Victims out;
      if (!preemptor.job.is_set()) return out;
      const std::int32_t job_priority = model.job(preemptor.job).priority;
      for (const TaskId id : candidates) {
        const Task& task = model.task(id);
        if (!task.job.is_set()) continue;
        const bool lower = task.job == preemptor.job ? task.priority < preemptor.priority
                                                     : model.job(task.job).priority < job_priority;
        if (lower) out.tasks.push_back(id);
      }
      return out;
    });
  }
};

}  // namespace

std::unique_ptr<Plugin> make_priority() { return std::make_unique<Priority>(); }

}  // namespace scheduler
