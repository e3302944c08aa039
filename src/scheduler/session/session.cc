// One scheduling cycle between its opening and its close.
#include "scheduler/session/session.h"

#include <utility>

#include "scheduler/ledger/ledger.h"
#include "scheduler/session/queue_statuses.h"
#include "scheduler/session/shard_status.h"

namespace scheduler {

Session::Session(SessionInput input)
    : in_(std::move(input)),
      journal_(in_, plan_),
      statuses_(in_, problems_, plan_),
      reasons_(in_, problems_, statuses_) {
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

bool Session::sub_job_before(const SubJob& a, const SubJob& b) const {
  if (const int order = ask<SubJobOrder>(a, b); order != 0) return order < 0;
  if (a.match_index != b.match_index) return a.match_index < b.match_index;
  return a.uid < b.uid;
}

bool Session::part_ready(const Job& job, std::uint32_t part) const {
  return job.has_sub_groups() ? ask<SubJobReady>(job, job.topology->sub_jobs[part]) : ask<JobReady>(job);
}

bool Session::part_pipelined(const Job& job, std::uint32_t part) const {
  return job.has_sub_groups() ? ask<SubJobPipelined>(job, job.topology->sub_jobs[part]) : ask<JobPipelined>(job);
}

namespace {

void report_tasks(const Model& model, SessionReport& report) {
  if (!report.keeps_tasks) return;
  for (std::uint32_t i = 0; i < model.task_capacity(); ++i) {
    const Task& task = model.task(TaskId{i});
    if (!task.in_use) continue;
    report.tasks[model.task_key(task.id)] = {task.status, task.node.is_set() ? model.nodes[task.node].name : ""};
  }
}

}  // namespace

Plan Session::close(const Stopwatch& stopwatch) {
  if (in_.keeps_reasons) reasons_.refresh(statuses_.quiet_jobs());
  in_.plugins.close(*this, stopwatch, report_.closing_times);
  for (const JobId id : statuses_.jobs_to_close()) {
    statuses_.close_job(id);
    if (in_.keeps_reasons && in_.model.job(id).waits()) reasons_.record(in_.model.job(id));
  }
  std::erase_if(in_.ledger.arriving, [&](const auto& one) { return one.second <= in_.now; });
  close_queues(in_, plan_);
  close_shard(in_, plan_);
  report_.pipelined = journal_.promised();
  report_tasks(in_.model, report_);
  journal_.close();
  plan_.sort_group_events();
  return std::move(plan_);
}

}  // namespace scheduler
