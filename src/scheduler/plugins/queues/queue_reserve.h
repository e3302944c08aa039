// The reserve that admitted groups hold back from their queues, and the use of groups beyond their minimum. Kept per
// job, so that a queue's sums follow changes; queue plugins share it.
#pragma once

#include <vector>

#include "scheduler/plugins/queues/group_reserve.h"
#include "scheduler/session/session.h"

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
    if (session.input().all_jobs_changed) {
      held_.clear();
      sums_.assign(model.queue_count(), Sum{});
      model.for_each_job([&](const Job& job) { follow(model, job); });
      return;
    }
    sums_.resize(model.queue_count());
    for (const JobId id : session.input().changed_jobs) follow(model, model.job(id));
  }
  const Sum& of(QueueId queue) const { return sums_[queue.index]; }
  // The amounts that the job holds back; null: none.
  const Resource* held_by(const Job& job) const {
    if (job.id.index >= held_.size() || !held_[job.id.index].inqueue) return nullptr;
    return &*held_[job.id.index].inqueue;
  }

 private:
  // There is one for every job.
  struct Held {
    QueueId queue;  // unset: nothing
    Resource elastic;
    OptionalValue<Resource> inqueue;
  };

  void follow(const Model& model, const Job& job) {
    if (job.id.index >= held_.size()) held_.resize(model.job_capacity());
    Held& held = held_[job.id.index];
    if (held.queue.is_set()) {
      Sum& sum = sums_[held.queue.index];
      if (held.inqueue) sum.inqueue -= *held.inqueue;
      sum.elastic -= held.elastic;
      held = Held{};
    }
    if (!job.in_use || !job.has_group || !job.queue.is_set()) return;
    held.queue = job.queue;
    held.elastic = Resource::exceeded_part(Resource(job.allocated), minimum_of(job));
    if (holds_reserve(job)) {
      held.inqueue = without_gated(model, job, uncovered_minimum(job));
      sums_[job.queue.index].inqueue += *held.inqueue;
    }
    sums_[job.queue.index].elastic += held.elastic;
  }

  std::vector<Held> held_;  // by job
  std::vector<Sum> sums_;   // by queue
};

}  // namespace scheduler
