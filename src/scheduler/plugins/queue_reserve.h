// What do admitted groups hold back from their queues, and what do groups use beyond their minimum? Kept per job, so
// that a queue's sums follow changes; queue plugins share it.
#pragma once

#include <unordered_map>
#include <vector>

#include "scheduler/framework/session.h"
#include "scheduler/plugins/group_reserve.h"

namespace scheduler {

class QueueReserve {
 public:
  struct Sum {
    QueueId queue;
    Resource inqueue;
    Resource elastic;
  };

  // Follows what changed since the last cycle.
  void open(Session& session) {
    Model& model = session.model();
    if (session.all_jobs_changed()) {
      held_.clear();
      sums_.assign(model.queue_count(), Sum{});
      model.for_each_job([&](const Job& job) { follow(model, job); });
      return;
    }
    sums_.resize(model.queue_count());
    for (const JobId id : session.changed_jobs()) follow(model, model.job(id));
  }
  const Sum& of(QueueId queue) const { return sums_[queue.index]; }

 private:
  void follow(const Model& model, const Job& job) {
    if (auto known = held_.find(job.id.index); known != held_.end()) {
      Sum& sum = sums_[known->second.queue.index];
      sum.inqueue -= known->second.inqueue;
      sum.elastic -= known->second.elastic;
      held_.erase(known);
    }
    if (!job.in_use || !job.has_group || !job.queue.is_set()) return;
    Sum held{job.queue, {}, Resource::exceeded_part(Resource(job.allocated), minimum_of(job))};
    if (job.min_resources && (job.status.phase == GroupPhase::kInqueue || runs_with_minimum(job))) {
      held.inqueue = without_gated(model, job, uncovered_minimum(job));
    }
    sums_[job.queue.index].inqueue += held.inqueue;
    sums_[job.queue.index].elastic += held.elastic;
    held_.emplace(job.id.index, std::move(held));
  }

  std::unordered_map<std::uint32_t, Sum> held_;  // by job
  std::vector<Sum> sums_;                        // by queue
};

}  // namespace scheduler
