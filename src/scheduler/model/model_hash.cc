// All columns and sums of a model as one number: equal ones believe the same.
#include "scheduler/model/model.h"

namespace scheduler {

std::uint64_t Model::hash() const {
  std::uint64_t hash = nodes.columns_hash();
  const auto mix = [&](std::uint64_t value) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
    hash ^= hash >> 29;
  };
  const auto mix_sums = [&](const Sums& sums) {
    for (Dim d = 0; d < sums.size(); ++d) {
      if (sums.get(d) != 0) mix(d), mix(static_cast<std::uint64_t>(sums.get(d)));
    }
  };
  for_each_job([&](const Job& job) {
    for (const std::int32_t count : job.counts) mix(static_cast<std::uint64_t>(count));
    if (job.topology) {
      for (const SubJob& part : job.topology->sub_jobs) {
        for (const std::int32_t count : part.counts) mix(static_cast<std::uint64_t>(count));
      }
    }
    mix_sums(job.allocated);
    mix_sums(job.promised());
  });
  for (const Queue& queue : queues_) {
    mix_sums(queue.allocated);
    mix_sums(queue.pipelined);
    mix_sums(queue.pending);
  }
  for (const Task& task : tasks_) mix(static_cast<std::uint64_t>(task.status)), mix(task.node.index);
  return hash;
}

}  // namespace scheduler
