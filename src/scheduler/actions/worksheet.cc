// The part of one job that is left to place: its parts in their order, each with its waiting tasks in theirs.
#include "scheduler/actions/worksheet.h"

#include <algorithm>

namespace scheduler {
namespace {

// For each policy, as many of the parts that are not ready, in their order, as are missing to its minimum.
std::vector<bool> required_parts(Session& session, const Job& job) {
  const JobTopology& topology = *job.topology;
  std::vector<bool> required(topology.sub_jobs.size());
  std::vector<std::uint32_t> waiting;
  std::vector<std::int32_t> missing;
  for (const SubGroupPolicy& policy : topology.policies) missing.push_back(policy.min_sub_groups);
  for (std::uint32_t i = 0; i < topology.sub_jobs.size(); ++i) {
    const SubJob& part = topology.sub_jobs[i];
    if (part.policy == SubJob::kNoPolicy || part.task_count() == 0) continue;
    if (session.part_ready(job, i))
      --missing[part.policy];
    else
      waiting.push_back(i);
  }
  std::sort(waiting.begin(), waiting.end(), [&](std::uint32_t a, std::uint32_t b) {
    return session.sub_job_before(topology.sub_jobs[a], topology.sub_jobs[b]);
  });
  for (const std::uint32_t i : waiting) {
    if (missing[topology.sub_jobs[i].policy]-- > 0) required[i] = true;
  }
  return required;
}

}  // namespace

std::vector<std::uint32_t> Worksheet::ordered_parts() const {
  std::vector<std::uint32_t> out;
  for (PartHeap copy = parts; !copy.empty();) out.push_back(copy.pop());
  return out;
}

Worksheet make_worksheet(Session& session, JobId id, const std::function<bool(TaskId)>& accept) {
  Model& model = session.model();
  const Job& job = model.job(id);
  if (!job.topology) {
    Worksheet sheet{PartHeap([](std::uint32_t, std::uint32_t) { return false; }), {}};
    for (const TaskId task : job.tasks) {
      if (accept(task)) sheet.tasks.try_emplace(0, make_task_heap(session)).first->second.push(task);
    }
    if (!sheet.tasks.empty()) sheet.parts.push(0);
    return sheet;
  }
  model.settle_sub_jobs(id);
  const auto required = std::make_shared<const std::vector<bool>>(required_parts(session, job));
  const JobTopology* topology = job.topology.get();
  Worksheet sheet{PartHeap([&session, topology, required](std::uint32_t a, std::uint32_t b) {
                    if ((*required)[a] != (*required)[b]) return static_cast<bool>((*required)[a]);
                    return session.sub_job_before(topology->sub_jobs[a], topology->sub_jobs[b]);
                  }),
                  {}};
  for (const TaskId task : job.tasks) {
    if (accept(task)) sheet.tasks.try_emplace(model.sub_job_of(task), make_task_heap(session)).first->second.push(task);
  }
  for (const auto& [part, tasks] : sheet.tasks) sheet.parts.push(part);
  return sheet;
}

}  // namespace scheduler
