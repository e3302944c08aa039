// Queues in their order, each with its jobs in theirs: what the actions drain.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "scheduler/session/fixed_order.h"
#include "scheduler/session/session.h"

namespace scheduler {

using QueueHeap = LiveHeap<QueueId, std::function<bool(QueueId, QueueId)>>;
using TaskHeap = LiveHeap<TaskId, std::function<bool(TaskId, TaskId)>>;

inline QueueHeap make_queue_heap(Session& session) {
  return QueueHeap([&session](QueueId a, QueueId b) {
    return session.queue_before(session.model().queue(a), session.model().queue(b));
  });
}
inline TaskHeap make_task_heap(Session& session) {
  return TaskHeap(
      [&session](TaskId a, TaskId b) { return session.task_before(session.model().task(a), session.model().task(b)); });
}

// The place of each job among others, as of when it was last asked. Jobs are told apart by their keys in the end, so
// that they are first noted in the order of these.
class JobRanks {
 public:
  void record(const Session& session, const Job& job) {
    if (job.id.index >= row_of_.size()) row_of_.resize(job.id.index + 1);
    std::uint32_t& row = row_of_[job.id.index];
    if (row == 0) row = ++rows_;
    scratch_.clear();
    session.ask<JobOrder>(job, &scratch_);
    scratch_.push_back(job.created_ns);
    width_ = scratch_.size();
    ranks_.resize(std::max(ranks_.size(), row * width_));
    std::copy(scratch_.begin(), scratch_.end(), ranks_.begin() + static_cast<std::ptrdiff_t>((row - 1) * width_));
  }
  bool before(JobId a, JobId b) const {
    const std::uint32_t left = row_of_[a.index], right = row_of_[b.index];
    const std::int64_t* l = &ranks_[(left - 1) * width_];
    const std::int64_t* r = &ranks_[(right - 1) * width_];
    for (std::size_t i = 0; i < width_; ++i) {
      if (l[i] != r[i]) return l[i] < r[i];
    }
    return left < right;
  }

 private:
  std::vector<std::uint32_t> row_of_;  // by job, from 1; 0: not noted
  std::uint32_t rows_ = 0;
  std::vector<std::int64_t> ranks_;  // row by row
  std::size_t width_ = 0;
  std::vector<std::int64_t> scratch_;
};

// Jobs by queue; a queue enters the heap with its first job.
class JobsByQueue {
 public:
  // Whether what happens while jobs wait here may change their places, as evictions of their own tasks do.
  enum class Places : std::uint8_t { kFixed, kLive };

  JobsByQueue(Session& session, Places places) : queues(make_queue_heap(session)), session_(session), places_(places) {}
  JobsByQueue(const JobsByQueue&) = delete;
  JobsByQueue& operator=(const JobsByQueue&) = delete;

  void add_queue(QueueId queue) {
    if (queue.index >= known_.size()) {
      known_.resize(queue.index + 1);
      while (is_fixed() && ranked_.size() <= queue.index) ranked_.emplace_back(Before{&ranks_});
      while (!is_fixed() && live_.size() <= queue.index) live_.push_back(make_live_heap());
    }
    if (known_[queue.index]) return;
    known_[queue.index] = true;
    queues.push(queue);
  }
  // In the order of their keys at first; later also a job that was taken out before.
  void add(JobId id) {
    const Job& job = session_.model().job(id);
    add_queue(job.queue);
    if (!is_fixed()) return live_[job.queue.index].push(id);
    ranks_.record(session_, job);
    ranked_[job.queue.index].push(id);
  }
  bool has_jobs(QueueId queue) const {
    return is_fixed() ? !ranked_[queue.index].empty() : !live_[queue.index].empty();
  }
  JobId pop(QueueId queue) {
    if (!is_fixed()) return live_[queue.index].pop();
    const Model& model = session_.model();
    RankedJobs& jobs = ranked_[queue.index];
    if (const JobId* id = jobs.after(6)) model.prefetch_lists(*id);
    if (const JobId* id = jobs.after(4)) model.prefetch_pods(*id);
    if (const JobId* id = jobs.after(2)) model.prefetch_pod_names(*id);
    return jobs.pop();
  }

  QueueHeap queues;

 private:
  struct Before {
    const JobRanks* ranks;
    bool operator()(JobId a, JobId b) const { return ranks->before(a, b); }
  };
  using RankedJobs = FixedOrder<JobId, Before>;
  using LiveJobs = LiveHeap<JobId, std::function<bool(JobId, JobId)>>;

  bool is_fixed() const { return places_ == Places::kFixed; }
  LiveJobs make_live_heap() {
    return LiveJobs(
        [this](JobId a, JobId b) { return session_.job_before(session_.model().job(a), session_.model().job(b)); });
  }

  Session& session_;
  const Places places_;
  JobRanks ranks_;
  std::vector<bool> known_;
  std::vector<RankedJobs> ranked_;  // by queue; places are fixed
  std::vector<LiveJobs> live_;      // by queue; they are not
};

}  // namespace scheduler
