// Why does each group wait? Found at the close, for those that were looked at and did not start.
#include "scheduler/session/reasons.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/format.h"
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

}  // namespace

const Reasons::Room& Reasons::room_of(Dim dim) const {
  const Model& model = in_.model;
  const std::pair now(model.touched_epoch(), model.touched().size());
  if (rooms_at_ != now) rooms_.clear();
  rooms_at_ = now;
  const auto found = rooms_.try_emplace(dim);
  Room& out = found.first->second;
  if (!found.second) return out;
  model.nodes.known().for_each([&](std::uint32_t n) {
    const std::int64_t free = std::max<std::int64_t>(model.nodes.future_idle(dim, n), 0);
    out.most = std::max(out.most, free);
    out.sum += free;
  });
  out.most_text = Dimensions::quantity_of(dim, static_cast<double>(out.most)).to_string();
  out.sum_text = Dimensions::quantity_of(dim, static_cast<double>(out.sum)).to_string();
  return out;
}

// The free amounts without the group's own attempt, which is undone by now.
void Reasons::describe_room(Dim dim, std::int64_t amount, WaitReason& out) const {
  const Room& room = room_of(dim);
  out.wanted = Dimensions::quantity_of(dim, static_cast<double>(amount)).to_string();
  out.most_free = room.most_text;
  out.free = room.sum_text;
  out.fits_one = amount <= room.most;
}

bool Reasons::renew_room(WaitReason& shown) const {
  const std::optional<Dim> dim = in_.model.dimensions.find(shown.resource);
  if (!dim || shown.wanted.empty()) return false;
  const Room& room = room_of(*dim);
  if (shown.most_free != room.most_text) {
    const auto wanted = api::Quantity::parse(shown.wanted);
    if (!wanted || (Dimensions::amount_of(*dim, *wanted) <= room.most) != shown.fits_one) return false;
    shown.most_free = room.most_text;
  }
  if (shown.free != room.sum_text) shown.free = room.sum_text;
  return true;
}

// The end of the search for one pod's node.
void Reasons::describe_search(const Job& job, const std::string& pod, const FitErrors& errors, WaitReason& out) const {
  const Model& model = in_.model;
  out.pod = pod;
  out.nodes = errors.node_count();
  out.domain = errors.label_domain().empty() ? errors.hyper_node() : errors.label_domain();
  const std::string& last = errors.last();
  if (!errors.last_is_shortage()) {
    out.kind = out.nodes == 0 || errors.reasons().empty() ? WaitKind::kRefused : WaitKind::kFilter;
    out.detail = last;
    out.is_of_pod = out.kind == WaitKind::kFilter && !errors.pod_refusal().empty();
    if (out.is_of_pod) {
      out.detail = errors.pod_refusal();
    } else if (out.kind == WaitKind::kFilter && errors.reasons().size() > 1) {
      std::map<std::string, std::int64_t, std::less<>> counts;
      for (const auto& [reason, count] : errors.reasons()) counts.emplace(reason, static_cast<std::int64_t>(count));
      out.detail = histogram_text(counts);
    }
    if (const auto found = errors.reasons().find(last); found != errors.reasons().end()) out.refused = found->second;
    return;
  }
  out.kind = WaitKind::kResources;
  const auto [resource, refused] = errors.tightest();
  out.resource = resource;
  out.refused = refused;
  const TaskId task = model.find_task(std::string(job.ns()) + "/" + pod);
  if (!task.is_set() || !errors.label_domain().empty()) return;  // the room of all nodes is not the domain's
  for (const Part& part : model.shape_of(model.task(task)).request.parts) {
    if (model.dimensions.name(part.dim) == out.resource) describe_room(part.dim, part.amount, out);
  }
}

bool Reasons::refused_by_admission(const Job& job, bool may_be_impossible, WaitReason& out) {
  const AdmissionRefusal* refused = job.is_pending() ? statuses_.refusals().of(job.id) : nullptr;
  if (refused == nullptr) return false;
  out.kind = WaitKind::kNotAdmitted;
  out.detail = refused->message;
  if (!refused->shortage) return true;
  const Limit limit = refused->shortage->limit;
  if (may_be_impossible && limit != Limit::kQuota && job.min_resources() &&
      impossible_.is_sum(*job.min_resources(), out))
    return true;
  // The queue's limit stays, whichever pods leave a full cluster.
  if (may_be_impossible && limit == Limit::kOvercommit && job.min_resources()) {
    const auto ever = ask<QueueLimit>(in_.model.queue(job.queue), Resource(*job.min_resources()), LimitQuestion::kEver);
    if (ever && ever->is_impossible()) {
      out.kind = WaitKind::kQueueLimit;
      out.shortage = *ever;
      return out.is_impossible = true;
    }
  }
  out.kind = limit == Limit::kQuota        ? WaitKind::kNamespaceQuota
             : limit == Limit::kOvercommit ? WaitKind::kClusterFull
                                           : WaitKind::kQueueLimit;
  out.shortage = *refused->shortage;
  out.shortage.is_admission = true;
  out.is_impossible = out.shortage.is_impossible();
  return true;
}

bool Reasons::met_trouble(const Job& job, WaitReason& out) const {
  const JobProblem* trouble = troubles_.find(job.id);
  if (trouble == nullptr) return false;
  if (!trouble->text.empty()) {
    out.kind = WaitKind::kDomain;
    out.detail = trouble->text;
    return true;
  }
  for (const auto& [pod, errors] : trouble->by_task) {
    const TaskId task = in_.model.find_task(std::string(job.ns()) + "/" + pod);
    const bool promised = task.is_set() && in_.model.task(task).status != TaskStatus::kPending;  // by a later action
    if (!errors.has_reasons() || promised) continue;
    describe_search(job, pod, errors, out);
    return true;
  }
  return false;
}

bool Reasons::limited_by_queue(const Job& job, TaskId first, WaitReason& out) const {
  const Queue& queue = in_.model.queue(job.queue);
  const JobProblem* trouble = troubles_.find(job.id);
  // Pods that ask for nothing are not held back by it.
  const bool asks = job.count(TaskStatus::kPending) > job.pending_best_effort;
  const bool overused = asks && troubles_.is_overused(queue.id);
  const bool over_limit = trouble != nullptr && !trouble->over_limit.empty();
  if (!overused && !over_limit) return false;
  // All that the group still lacks, beside what others hold; a single pod where the group itself has enough.
  std::optional<Shortage> shortage;
  if (out.missing > 1)
    shortage = ask<QueueLimit>(queue, impossible_.need_of_pending(job, out.missing), LimitQuestion::kNow);
  if (!shortage && over_limit) shortage = trouble->over_limit.begin()->second;
  if (!shortage && first.is_set())
    shortage = ask<QueueLimit>(queue, Resource(in_.model.shape_of(in_.model.task(first)).request), LimitQuestion::kNow);
  if (shortage) {
    out.kind = WaitKind::kQueueLimit;
    out.shortage = *shortage;
    return true;
  }
  out.kind = WaitKind::kQueueOverused;
  out.detail = overused ? "others come first" : "a plugin of the configuration gives it no more";
  return true;
}

// A group that was found impossible in this cycle holds nothing from the next one on.
WaitReason Reasons::reason_of(const Job& job, bool may_be_impossible) {
  WaitReason out = cause_of(job, may_be_impossible);
  const bool lapses = out.is_impossible && job.phase == GroupPhase::kInqueue;
  out.holds_nothing = job.min_resources() && !job.is_pending() && (lapses || in_.lapsed_reserves.has(job.id));
  return out;
}

WaitReason Reasons::cause_of(const Job& job, bool may_be_impossible) {
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
  if (model.nodes.known_count() == 0) return of_kind(WaitKind::kNoNodes);
  if (may_be_impossible && out.missing + placed > 0 && impossible_.is_group(job, out)) return out;
  if (refused_by_admission(job, may_be_impossible, out)) return out;
  if (const Refusal invalid = ask<JobValid>(job)) return of_kind(WaitKind::kNotEnoughPods, invalid.message);
  if (gated > 0 && gated == job.count(TaskStatus::kPending)) {
    out.missing = gated;
    return of_kind(WaitKind::kGated);
  }
  if (met_trouble(job, out)) return out;
  if (limited_by_queue(job, first, out)) return out;
  if (job.waiting_count() > 0) {
    out.missing = job.waiting_count();
    return of_kind(WaitKind::kReleasing);
  }
  if (gated > 0) {
    out.missing = gated;
    return of_kind(WaitKind::kGated);
  }
  return of_kind(WaitKind::kUnknown, statuses_.job_text(job));
}

// The reason also says why no eviction makes room.
void Reasons::add_evictions(const Job& job, WaitReason& out) const {
  if (out.is_impossible) return;
  const JobProblem* trouble = troubles_.find(job.id);
  if (trouble != nullptr) out.evictions = trouble->evictions;
  if (statuses_.refusals().of(job.id) == nullptr || !job.is_pending()) return;
  std::string actions;
  std::size_t count = 0;
  for (const std::string& one : in_.config.actions) {
    if (one != "preempt" && one != "reclaim" && one != "gangpreempt" && one != "gangreclaim") continue;
    actions += (actions.empty() ? "" : ", ") + one;
    ++count;
  }
  if (count == 0) return;
  out.evictions = base::format("{} {} not asked: enqueue holds the group", actions, count == 1 ? "is" : "are");
}

const WaitReason& Reasons::of(const Job& job) {
  const auto known = found_.find(job.id.index);
  if (known != found_.end()) return known->second;
  WaitReason fresh = reason_of(job, true);
  add_evictions(job, fresh);
  return found_.emplace(job.id.index, std::move(fresh)).first->second;
}

Explanation Reasons::sentence(const Job& job) {
  const WaitReason& reason = of(job);
  if (reason.kind == WaitKind::kUnknown) return {};
  GroupReport& reported = in_.ledger.edit_group(job.id);
  const std::uint64_t digest = reason.digest();
  if (digest != reported.why_digest) {
    reported.why_digest = digest;
    reported.why = in_.model.shared_texts.share(reason.message());
  }
  return {reported.why, reason.is_impossible, reason.kind};
}

// Groups that come elsewhere in the tree of queues may switch a plugin's limits off.
bool Reasons::still_limits(const Job& job, const Shortage& shown) const {
  if (shown.name.empty()) return true;  // the nodes do
  const std::optional<Dim> dim = in_.model.dimensions.find(shown.resource);
  if (!dim) return false;
  Resource wanted;
  wanted.set(*dim, static_cast<double>(Dimensions::amount_of(*dim, shown.wanted)));
  const auto now = ask<QueueLimit>(in_.model.queue(job.queue), wanted, LimitQuestion::kEver);
  return now && now->is_impossible() && now->name == shown.name && now->allowed == shown.allowed;
}

bool Reasons::is_still_true(const Job& job) const {
  const auto known = in_.ledger.reasons.find(job.id);
  if (known == in_.ledger.reasons.end() || in_.nodes_changed) return false;
  if (known->second.kind == WaitKind::kNotAdmitted) return true;
  const AdmissionRefusal* refused = job.is_pending() ? statuses_.refusals().of(job.id) : nullptr;
  Shortage& shown = known->second.shortage;
  if (refused == nullptr || !refused->shortage) {
    if (known->second.is_impossible) return still_limits(job, shown);
    // Its tries ended as before.
    const WaitKind kind = known->second.kind;
    if (kind == WaitKind::kResources) return renew_room(known->second);
    return kind == WaitKind::kRefused || kind == WaitKind::kFilter || kind == WaitKind::kDomain;
  }
  const Shortage& now = *refused->shortage;
  if (known->second.is_impossible && shown.name.empty()) return true;  // by the nodes
  if (known->second.is_impossible && shown.limit != now.limit) return still_limits(job, shown);
  if (shown.limit != now.limit || shown.name != now.name || shown.resource != now.resource ||
      shown.wanted != now.wanted)
    return false;
  if (shown.allowed != now.allowed && now.is_fixed()) return false;
  shown.used = now.used;
  shown.allowed = now.allowed;
  return true;
}

void Reasons::refresh(const std::vector<JobId>& quiet_jobs) {
  std::vector<JobId> reported_otherwise;
  for (const JobId id : quiet_jobs) {
    const Job& job = in_.model.job(id);
    const bool informs_pods =
        job.waits() || job.count(TaskStatus::kPending) > 0;  // a group without a minimum never waits
    if (!informs_pods || is_still_true(job)) continue;
    const auto known = in_.ledger.reasons.find(id);
    const bool may_be_impossible =
        in_.nodes_changed || known == in_.ledger.reasons.end() || known->second.is_impossible;
    WaitReason fresh = reason_of(job, may_be_impossible);
    add_evictions(job, fresh);
    const WaitReason& now = found_.insert_or_assign(id.index, std::move(fresh)).first->second;
    if (job.waits()) record(job);
    const GroupReport& reported = in_.ledger.group(id);
    if (reported.why_digest != 0 && now.kind != WaitKind::kUnknown && now.digest() != reported.why_digest)
      reported_otherwise.push_back(id);
  }
  for (const JobId id : reported_otherwise) in_.model.mark_changed(id);
}

std::vector<std::pair<JobId, WaitReason>> Reasons::take() {
  std::vector<std::pair<JobId, WaitReason>> out;
  for (const JobId id : std::exchange(waiting_, {})) {
    const auto found = found_.find(id.index);
    if (found == found_.end()) continue;  // taken already
    out.emplace_back(id, std::move(found->second));
    found_.erase(found);
  }
  return out;
}

}  // namespace scheduler
