// Tasks of higher priority start first; each task's own minimum comes before the rest.
#include "controllers/job/min_resources.h"

#include <algorithm>

#include "controllers/groups/usage.h"

namespace controllers::job {

using api::ResourceList;

ResourceList min_resources(const Job& job, const std::function<std::int64_t(std::string_view)>& priority_of) {
  std::vector<const Task*> order;
  for (const Task& task : job.tasks) order.push_back(&task);
  const auto priority = [&](const Task* task) {
    const std::string name = task->pod_template["spec"]["priorityClassName"].str();
    return name.empty() ? 0 : priority_of(name);
  };
  std::stable_sort(order.begin(), order.end(), [&](const Task* a, const Task* b) { return priority(a) > priority(b); });

  std::int64_t task_minimums = 0;
  for (const Task& task : job.tasks) task_minimums += task.min_available.value_or(0);
  ResourceList sum;
  std::int64_t left = job.min_available;
  const auto take = [&](const Task& task, std::int64_t wanted) {
    const std::int64_t count = std::min(wanted, left);
    if (count <= 0) return;
    left -= count;
    for (auto& [name, quantity] : quota_usage(task.pod_template["spec"])) {
      const auto [slot, fresh] = sum.try_emplace(name, quantity.times(count));
      if (!fresh) slot->second += quantity.times(count);
    }
  };
  if (job.min_available < task_minimums) {
    for (const Task* task : order) take(*task, task->replicas);
    return sum;
  }
  for (const Task* task : order) take(*task, task->min_available.value_or(0));
  for (const Task* task : order) take(*task, task->replicas - task->min_available.value_or(0));
  return sum;
}

}  // namespace controllers::job
