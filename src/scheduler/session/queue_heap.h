// Queues in their order, each with its jobs in theirs: what the actions drain.
#pragma once

#include <functional>
#include <vector>

#include "scheduler/session/session.h"

namespace scheduler {

using QueueHeap = LiveHeap<QueueId, std::function<bool(QueueId, QueueId)>>;
using JobHeap = LiveHeap<JobId, std::function<bool(JobId, JobId)>>;
using TaskHeap = LiveHeap<TaskId, std::function<bool(TaskId, TaskId)>>;

inline QueueHeap make_queue_heap(Session& session) {
  return QueueHeap([&session](QueueId a, QueueId b) {
    return session.queue_before(session.model().queue(a), session.model().queue(b));
  });
}
inline JobHeap make_job_heap(Session& session) {
  return JobHeap(
      [&session](JobId a, JobId b) { return session.job_before(session.model().job(a), session.model().job(b)); });
}
inline TaskHeap make_task_heap(Session& session) {
  return TaskHeap(
      [&session](TaskId a, TaskId b) { return session.task_before(session.model().task(a), session.model().task(b)); });
}

// Jobs by queue; a queue enters the heap with its first job.
class JobsByQueue {
 public:
  explicit JobsByQueue(Session& session) : session_(session), queues(make_queue_heap(session)) {}

  void add_queue(QueueId queue) {
    if (queue.index >= known_.size()) {
      known_.resize(queue.index + 1);
      while (jobs_.size() <= queue.index) jobs_.push_back(make_job_heap(session_));
    }
    if (known_[queue.index]) return;
    known_[queue.index] = true;
    queues.push(queue);
  }
  JobHeap& jobs_of(QueueId queue) { return jobs_[queue.index]; }
  void add(JobId job) {
    const QueueId queue = session_.model().job(job).queue;
    add_queue(queue);
    jobs_[queue.index].push(job);
  }

 private:
  Session& session_;
  std::vector<bool> known_;
  std::vector<JobHeap> jobs_;

 public:
  QueueHeap queues;
};

}  // namespace scheduler
