// Reads ahead of the parts of a job that will be needed soon. Loops over thousands of jobs say so ahead, or they wait
// for memory at each.
#include <algorithm>

#include "scheduler/model/model.h"

namespace scheduler {
namespace {

// Per job: gangs of the same pods fail at one of their first.
constexpr std::size_t kPodsAhead = 4;

}  // namespace

void Model::prefetch_lists(JobId id) const {
  __builtin_prefetch(jobs_[id.index].roles.data());
  __builtin_prefetch(jobs_[id.index].tasks.data());
}

void Model::prefetch_pods(JobId id) const {
  const std::vector<TaskId>& tasks = jobs_[id.index].tasks;
  for (std::size_t i = 0; i < std::min(tasks.size(), kPodsAhead); ++i) {
    __builtin_prefetch(&tasks_[tasks[i].index]);
    __builtin_prefetch(&texts_[tasks[i].index]);
  }
}

void Model::prefetch_pod_names(JobId id) const {
  const std::vector<TaskId>& tasks = jobs_[id.index].tasks;
  for (std::size_t i = 0; i < std::min(tasks.size(), kPodsAhead); ++i) text(tasks[i]).name.prefetch();
}

}  // namespace scheduler
