// One scheduling cycle between its opening and its close.
#include "scheduler/session/session.h"

#include <utility>

#include "scheduler/ledger/ledger.h"
#include "scheduler/session/eviction_rounds.h"

namespace scheduler {

Session::Session(SessionInput input)
    : in_(std::move(input)),
      journal_(in_, plan_),
      statuses_(in_, troubles_, plan_),
      reasons_(in_, troubles_, statuses_) {
  if (in_.keeps_reasons) statuses_.explain_with([this](const Job& job) { return reasons_.sentence(job); });
}

std::vector<JobId> Session::jobs_to_look_at() {
  std::vector<JobId> out = in_.model.open_jobs();
  std::erase_if(out, [&](JobId id) {
    const Job& job = in_.model.job(id);
    return !job.queue.is_set() || !in_.model.queue(job.queue).in_use;
  });
  return out;
}

bool Session::job_before(const Job& a, const Job& b) const {
  if (const int order = ask<JobOrder>(a, b); order != 0) return order < 0;
  if (a.created_ns != b.created_ns) return a.created_ns < b.created_ns;
  return a.key < b.key;
}

bool Session::task_before(const Task& a, const Task& b) const {
  if (const int order = ask<TaskOrder>(a, b); order != 0) return order < 0;
  if (a.name_index >= 0 && b.name_index >= 0 && a.name_index != b.name_index) return a.name_index < b.name_index;
  if (a.created_ns != b.created_ns) return a.created_ns < b.created_ns;
  return in_.model.text(a.id).uid < in_.model.text(b.id).uid;
}

bool Session::queue_before(const Queue& a, const Queue& b) const {
  if (const int order = ask<QueueOrder>(a, b); order != 0) return order < 0;
  if (a.created_ns != b.created_ns) return a.created_ns < b.created_ns;
  return a.name < b.name;  // Volcano's id of a queue
}

void Session::note_over_limit(const Job& job, std::uint32_t part, const Task& task) {
  const auto [found, first] = trouble(job.id).over_limit.try_emplace(part);
  if (!first || !in_.keeps_reasons) return;
  found->second =
      ask<QueueLimit>(in_.model.queue(job.queue), Resource(in_.model.shape_of(task).request), LimitQuestion::kNow);
}

EvictionRounds& Session::eviction_rounds() { return in_.ledger.eviction_rounds; }
bool Session::is_beneficiary(JobId job) const { return comes_first(in_.model, in_.ledger.eviction_rounds, job); }

std::vector<std::string> Session::take_bad_rollbacks() {
  std::vector<std::string> out = journal_.take_bad_rollbacks();
  out.insert(out.end(), bad_plans_.begin(), bad_plans_.end());
  bad_plans_.clear();
  return out;
}

void Session::report_tasks() {
  pipelined_ = journal_.promised();
  if (!keep_tasks_) return;
  for (std::uint32_t i = 0; i < in_.model.task_capacity(); ++i) {
    const Task& task = in_.model.task(TaskId{i});
    if (!task.in_use) continue;
    task_reports_[in_.model.task_key(task.id)] = {task.status,
                                                  task.node.is_set() ? in_.model.nodes[task.node].name : ""};
  }
}

void Session::settle_reserves() { in_.lapsed_reserves.settle(in_, reasons_.impossible()); }

Plan Session::close(const Stopwatch& stopwatch) {
  if (in_.keeps_reasons) reasons_.refresh(statuses_.quiet_jobs());
  in_.plugins.close(*this, stopwatch, closing_times_);
  for (const JobId id : statuses_.jobs_to_close()) {
    statuses_.close_job(id);
    if (in_.keeps_reasons && in_.model.job(id).waits()) reasons_.note(in_.model.job(id));
  }
  std::erase_if(in_.ledger.arriving, [&](const auto& one) { return one.second <= in_.now; });
  statuses_.close_queues();
  statuses_.close_shard();
  report_tasks();
  journal_.close();
  statuses_.sort_events();
  return std::move(plan_);
}

}  // namespace scheduler
