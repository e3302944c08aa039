// Which admitted groups hold nothing back any more?
#include "scheduler/session/lapsed_reserves.h"

#include <algorithm>
#include <utility>

#include "scheduler/framework/extension_points.h"
#include "scheduler/ledger/ledger.h"
#include "scheduler/session/session_input.h"
#include "scheduler/session/unschedulable.h"

namespace scheduler {

// The answer holds while the job, the nodes and the queues stay as they are.
bool LapsedReserves::can_never_start(const SessionInput& in, Unschedulable& impossible, const Job& job) {
  Verdict& verdict = verdicts_[job.id.index];
  const bool is_known = verdict.changes == job.changes && !in.nodes_changed && !in.queues_changed;
  if (is_known && !in.all_jobs_changed) return verdict.is_never;
  WaitReason reason;
  verdict.changes = job.changes;
  verdict.is_never = in.model.nodes.known_count() > 0 && impossible.is_group(job, reason);
  return verdict.is_never;
}

// The times that count are written in the group: its creation, and the conditions that say how it stands. Beside them
// this process knows when the pods changed since it began.
bool LapsedReserves::has_lacked_pods(const SessionInput& in, const Job& job) {
  if (job.valid_count() >= job.min_available || in.ledger.arriving.contains(job.id)) return false;
  const GroupReport& reported = in.ledger.group(job.id);
  const bool is_known = reported.unchanged_since.is_set();
  if (is_known && reported.pod_changes != job.pod_changes) return false;  // a pod came or went just now
  std::int64_t since = is_known ? std::max(job.created_ns, reported.unchanged_since.ns) : job.created_ns;
  for (const GroupCondition& one : reported.status.conditions) {
    if (one.reason == kReserveLapsed && one.last_transition.ns >= since - kPodsMissingMax.ns) return true;
    since = std::max(since, one.last_transition.ns);
  }
  if (since <= 0) return false;
  const base::Time due = base::Time{since} + kPodsMissingMax;
  if (due <= in.now) return true;
  if (!next_due_ || due < *next_due_) next_due_ = due;
  return false;
}

void LapsedReserves::follow(const SessionInput& in) {
  const auto look_at = [this](const Job& job) {
    const bool is_admitted = job.in_use && job.has_group && job.queue.is_set() && job.is_starving() &&
                             (job.phase == GroupPhase::kInqueue || job.is_broken());
    if (is_admitted)
      admitted_.insert(job.id);
    else
      admitted_.erase(job.id);
  };
  if (!in.all_jobs_changed) {
    for (const JobId id : in.changed_jobs) look_at(in.model.job(id));
    return;
  }
  admitted_.clear();
  in.model.for_each_job_unsorted(look_at);
}

void LapsedReserves::settle(const SessionInput& in, Unschedulable& impossible) {
  verdicts_.resize(std::max<std::size_t>(verdicts_.size(), in.model.job_capacity()));
  std::vector<std::pair<JobId, Why>> before;
  for (const JobId id : std::exchange(lapsed_, {})) {
    before.emplace_back(id, std::exchange(verdicts_[id.index].why, Why::kHolds));
  }
  next_due_.reset();
  follow(in);
  for (const JobId id : admitted_) {
    const Job& job = in.model.job(id);
    if (!in.model.queue(job.queue).in_use) continue;
    Verdict& verdict = verdicts_[id.index];
    if (can_never_start(in, impossible, job))
      verdict.why = Why::kNever;
    else if (has_lacked_pods(in, job))
      verdict.why = Why::kLacksPods;
    if (verdict.why == Why::kHolds) continue;
    lapsed_.push_back(id);
    in.plugins.ask<ReserveLapsed>(job);
  }
  // Each of them is told what has become of its reserve.
  for (const auto& [id, why] : before) {
    if (in.model.job(id).in_use && verdicts_[id.index].why != why) in.model.mark_changed(id);
  }
  for (const JobId id : lapsed_) {
    const auto was = std::find_if(before.begin(), before.end(), [&](const auto& one) { return one.first == id; });
    if (was == before.end()) in.model.mark_changed(id);
  }
}

}  // namespace scheduler
