// How much does an admitted group still have to get? Queue plugins hold it back from further admissions.
#pragma once

#include "scheduler/model/model.h"

namespace scheduler {

inline bool runs_with_minimum(const Job& job) {
  return job.phase == GroupPhase::kRunning && job.allocated_count() >= job.min_available;
}

// Whether the group holds back what its minimum still lacks: it was let in, it runs whole, or it lost a member since it
// started. Members that ended well are not made again.
// DIFFERS(broken-gangs): docs/compat says why.
inline bool holds_reserve(const Job& job) {
  if (!job.in_use || !job.has_group || !job.queue.is_set() || !job.min_resources()) return false;
  return job.phase == GroupPhase::kInqueue || runs_with_minimum(job) ||
         (job.is_broken() && job.count(TaskStatus::kSucceeded) == 0);
}

// The part of the group's minimum that `allocated` does not cover.
inline Resource uncovered_minimum(const Job& job) {
  Resource out;
  if (!job.min_resources()) return out;
  for (const Part& part : job.min_resources()->parts) {
    const std::int64_t have = job.allocated.has(part.dim) ? job.allocated.get(part.dim) : 0;
    out.set(part.dim, static_cast<double>(std::max<std::int64_t>(part.amount - have, 0)));
  }
  return out;
}

// Without what tasks ask for that are held by a gate other than the queue's.
inline Resource without_gated(const Model& model, const Job& job, Resource amount) {
  if (job.gated == 0) return amount;
  Resource gated;
  for (const TaskId id : job.tasks) {
    const Task& task = model.task(id);
    if (task.gated && !task.queue_gate_only) gated += Resource(model.shape_of(task).request);
  }
  for (Dim d = 0; d < amount.size(); ++d) {
    if (amount.has(d) && gated.has(d)) amount.set(d, std::max(0.0, amount.get(d) - gated.get(d)));
  }
  return amount;
}

inline Resource minimum_of(const Job& job) { return job.min_resources() ? Resource(*job.min_resources()) : Resource(); }

// "cpu, memory, <scalars by name>" of failing dimensions, each after `word`.
std::string failing_text(const Model& model, std::vector<Dim> dims, std::string_view word);

}  // namespace scheduler
