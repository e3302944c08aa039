// Why does each group wait? Found at the close, for those that were looked at and did not start.
#include <algorithm>
#include <utility>

#include "scheduler/session/session.h"

namespace scheduler {
namespace {

constexpr std::string_view kInsufficient = "Insufficient ";

std::string_view word_for(QueueState state) {
  switch (state) {
    case QueueState::kOpen: return "open";
    case QueueState::kClosed: return "closed";
    case QueueState::kClosing: return "closing";
    case QueueState::kUnknown: return "in an unknown state";
  }
  return "";
}

// The resource that most nodes lack; the first by name among equals.
std::string tightest_of(const FitErrors& errors) {
  std::string worst;
  std::size_t most = 0;
  for (const auto& [reason, count] : errors.reasons()) {
    if (!reason.starts_with(kInsufficient) || count <= most) continue;
    worst = reason.substr(kInsufficient.size());
    most = count;
  }
  return worst;
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
  if (!last.starts_with(kInsufficient)) {
    out.kind = out.nodes == 0 || errors.reasons().empty() ? WaitKind::kRefused : WaitKind::kFilter;
    out.detail = last;
    if (const auto found = errors.reasons().find(last); found != errors.reasons().end()) out.refused = found->second;
    return;
  }
  out.kind = WaitKind::kResources;
  out.resource = tightest_of(errors);
  if (const auto found = errors.reasons().find(std::string(kInsufficient) + out.resource);
      found != errors.reasons().end())
    out.refused = found->second;
  const TaskId task = model.find_task(std::string(job.ns()) + "/" + pod);
  if (!task.is_set()) return;
  for (const Part& part : model.shape_of(model.task(task)).request.parts) {
    if (model.dimensions.name(part.dim) == out.resource) describe_room(model, part.dim, part.amount, out);
  }
}

}  // namespace

void Session::note_over_limit(const Job& job, const Task& task) {
  JobTrouble& one = trouble(job.id);
  if (std::exchange(one.over_limit, true) || !in_.keeps_reasons) return;
  one.shortage = ask<QueueLimit>(in_.model.queue(job.queue), Resource(in_.model.shape_of(task).request), false);
}

WaitReason Session::wait_reason(const Job& job) {
  Model& model = in_.model;
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
    placed += was_placed_and_discarded(task) ? 1 : 0;
    if (task.status != TaskStatus::kPending) continue;
    gated += task.gated ? 1 : 0;
    if (!first.is_set() || model.text(id).name < model.text(first).name) first = id;
  }
  out.missing = std::max(job.min_available - job.ready_count() - job.waiting_count() - placed, 0);
  if (queue.state != QueueState::kOpen) return of_kind(WaitKind::kQueueNotOpen, std::string(word_for(queue.state)));
  if (job.is_pending()) {
    if (const auto refused = refusals_.find(job.id.index); refused != refusals_.end()) {
      if (!refused->second.starts_with("queue resource quota")) return of_kind(WaitKind::kNotAdmitted, refused->second);
      const auto shortage = ask<QueueLimit>(queue, job.min_resources ? Resource(*job.min_resources) : Resource(), true);
      if (!shortage) return of_kind(WaitKind::kNotAdmitted, refused->second);
      out.shortage = *shortage;
      return of_kind(WaitKind::kQueueLimit, refused->second);
    }
  }
  if (const Refusal invalid = ask<JobValid>(job)) return of_kind(WaitKind::kNotEnoughPods, invalid.message);
  if (gated > 0 && gated == job.count(TaskStatus::kPending)) {
    out.missing = gated;
    return of_kind(WaitKind::kGated);
  }
  const JobTrouble* trouble = find_trouble(job.id);
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
  const bool overused = overused_.contains(queue.id.index);
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
  return of_kind(WaitKind::kUnknown, job_text(job));
}

}  // namespace scheduler
