// Why does each group wait? Found at the close, for those that were looked at and did not start.
#include "scheduler/session/reasons.h"

#include <algorithm>
#include <utility>

#include "scheduler/ledger/ledger.h"

namespace scheduler {
namespace {

std::string_view word_for(QueueState state) {
  switch (state) {
    case QueueState::kOpen: return "open";
    case QueueState::kClosed: return "closed";
    case QueueState::kClosing: return "closing";
    case QueueState::kUnknown: return "in an unknown state";
  }
  return "";
}

// What is free without the group's own attempt, which is undone by now.
void describe_room(const Model& model, Dim dim, std::int64_t amount, WaitReason& out) {
  std::int64_t most = 0, sum = 0;
  model.nodes.known().for_each([&](std::uint32_t n) {
    const std::int64_t free = std::max<std::int64_t>(model.nodes.future_idle(dim, n), 0);
    most = std::max(most, free);
    sum += free;
  });
  const auto text = [&](std::int64_t value) {
    return Dimensions::quantity_of(dim, static_cast<double>(value)).to_string();
  };
  out.wanted = text(amount);
  out.most_free = text(most);
  out.free = text(sum);
}

// What the search for one pod's node ended with.
void describe_search(const Model& model, const Job& job, const std::string& pod, const FitErrors& errors,
                     WaitReason& out) {
  out.pod = pod;
  out.nodes = errors.node_count();
  out.domain = errors.hyper_node();
  const std::string& last = errors.last();
  if (!errors.last_is_shortage()) {
    out.kind = out.nodes == 0 || errors.reasons().empty() ? WaitKind::kRefused : WaitKind::kFilter;
    out.detail = last;
    if (const auto found = errors.reasons().find(last); found != errors.reasons().end()) out.refused = found->second;
    return;
  }
  out.kind = WaitKind::kResources;
  const auto [resource, refused] = errors.tightest();
  out.resource = resource;
  out.refused = refused;
  const TaskId task = model.find_task(std::string(job.ns()) + "/" + pod);
  if (!task.is_set()) return;
  for (const Part& part : model.shape_of(model.task(task)).request.parts) {
    if (model.dimensions.name(part.dim) == out.resource) describe_room(model, part.dim, part.amount, out);
  }
}

}  // namespace

WaitReason Reasons::reason_of(const Job& job) const {
  const Model& model = in_.model;
  WaitReason out;
  out.queue = job.queue_name.str();
  out.pods = job.task_count();
  out.minimum = job.min_available;
  const auto of_kind = [&](WaitKind kind, std::string detail = {}) {
    out.kind = kind;
    out.detail = std::move(detail);
    return out;
  };
  if (!job.queue.is_set() || !model.queue(job.queue).in_use) return of_kind(WaitKind::kQueueNotFound);
  const Queue& queue = model.queue(job.queue);
  std::int32_t gated = 0, placed = 0;
  TaskId first;  // the smallest waiting pod by name
  for (const TaskId id : job.tasks) {
    const Task& task = model.task(id);
    placed += was_placed_and_discarded(task, in_.cycle) ? 1 : 0;
    if (task.status != TaskStatus::kPending) continue;
    gated += task.gated ? 1 : 0;
    if (!first.is_set() || model.text(id).name < model.text(first).name) first = id;
  }
  out.missing = std::max(job.min_available - job.ready_count() - job.waiting_count() - placed, 0);
  if (queue.state != QueueState::kOpen) return of_kind(WaitKind::kQueueNotOpen, std::string(word_for(queue.state)));
  if (job.is_pending()) {
    if (const AdmissionRefusal* refused = statuses_.refusal_of(job.id)) {
      if (refused->by != AdmissionRefusal::By::kQueueQuota) return of_kind(WaitKind::kNotAdmitted, refused->message);
      const auto shortage = ask<QueueLimit>(queue, job.min_resources ? Resource(*job.min_resources) : Resource(), true);
      if (!shortage) return of_kind(WaitKind::kNotAdmitted, refused->message);
      out.shortage = *shortage;
      return of_kind(WaitKind::kQueueLimit, refused->message);
    }
  }
  if (const Refusal invalid = ask<JobValid>(job)) return of_kind(WaitKind::kNotEnoughPods, invalid.message);
  if (gated > 0 && gated == job.count(TaskStatus::kPending)) {
    out.missing = gated;
    return of_kind(WaitKind::kGated);
  }
  const JobTrouble* trouble = troubles_.find(job.id);
  if (trouble != nullptr && !trouble->text.empty()) return of_kind(WaitKind::kDomain, trouble->text);
  if (trouble != nullptr) {
    for (const auto& [pod, errors] : trouble->by_task) {
      const TaskId task = model.find_task(std::string(job.ns()) + "/" + pod);
      const bool promised = task.is_set() && model.task(task).status != TaskStatus::kPending;  // by a later action
      if (!errors.has_reasons() || promised) continue;
      describe_search(model, job, pod, errors, out);
      return out;
    }
  }
  const bool overused = troubles_.is_overused(queue.id);
  if (overused || (trouble != nullptr && trouble->over_limit)) {
    std::optional<QueueShortage> shortage = trouble != nullptr ? trouble->shortage : std::nullopt;
    if (!shortage && first.is_set())
      shortage = ask<QueueLimit>(queue, Resource(model.shape_of(model.task(first)).request), false);
    if (shortage) {
      out.shortage = *shortage;
      return of_kind(WaitKind::kQueueLimit);
    }
    return of_kind(WaitKind::kQueueOverused,
                   overused ? "others come first" : "a plugin of the configuration gives it no more");
  }
  if (job.waiting_count() > 0) {
    out.missing = job.waiting_count();
    return of_kind(WaitKind::kReleasing);
  }
  return of_kind(WaitKind::kUnknown, statuses_.job_text(job));
}

void Reasons::refresh() {
  for (const JobId id : in_.model.open_jobs()) {
    const Job& job = in_.model.job(id);
    if (!job.waits() || !statuses_.is_in_session(job) || !statuses_.is_quiet(job)) continue;
    const auto known = in_.ledger.reasons.find(id);
    if (known != in_.ledger.reasons.end() && known->second.kind == WaitKind::kNotAdmitted) continue;
    find(job);
  }
}

}  // namespace scheduler
