// Effective requests of a pod follow Kubernetes: containers and sidecars together, or the largest step of the init
// containers with the sidecars started before it, plus the pod's overhead; pod-level resources win where given.
#include "controllers/job/usage.h"

#include <algorithm>

#include "api/pod_requests.h"

namespace controllers::job {

using api::Json;
using api::Quantity;
using api::ResourceList;

namespace {

// `side` is "requests" or "limits".
ResourceList effective(const Json& spec, std::string_view side) {
  ResourceList sum = api::pod_total(spec, side);
  const ResourceList overhead = api::resource_list_from(spec["overhead"]);
  if (side == "requests") {
    api::add(sum, overhead);
  } else {
    for (const auto& [name, quantity] : overhead)
      if (const auto found = sum.find(name); found != sum.end()) found->second += quantity;
  }
  return sum;
}

bool is_native(std::string_view name) { return name == "cpu" || name == "memory" || name == "ephemeral-storage"; }

}  // namespace

ResourceList quota_usage(const Json& spec) {
  ResourceList usage;
  usage["count/pods"] = Quantity::from_int(1);
  usage["pods"] = Quantity::from_int(1);
  for (const auto& [name, quantity] : effective(spec, "requests")) {
    usage[name] = quantity;
    usage["requests." + name] = quantity;
  }
  for (const auto& [name, quantity] : effective(spec, "limits"))
    if (is_native(name)) usage["limits." + name] = quantity;
  return usage;
}

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
