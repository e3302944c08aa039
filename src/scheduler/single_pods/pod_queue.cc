// In which order do single pods have their turn, and when does one that found no node have another?
#include "scheduler/single_pods/pod_queue.h"

#include <algorithm>

namespace scheduler {
namespace {

constexpr base::Duration kPauseMin = base::seconds(1);
constexpr base::Duration kPauseMax = base::seconds(10);
constexpr base::Duration kUnschedulableMax = base::minutes(5);

}  // namespace

PodQueue::Order PodQueue::order_of(const Entry& entry) {
  return {-entry.urgency, -std::int64_t{entry.pod.priority}, entry.since.ns, entry.number};
}

base::Duration PodQueue::pause_after(int failures) {
  base::Duration pause = kPauseMin;
  for (int i = 1; i < failures && pause < kPauseMax; ++i) pause = pause * 2;
  return std::min(pause, kPauseMax);
}

void PodQueue::leave(Entries::iterator at) {
  const Entry& entry = at->second;
  switch (entry.at) {
    case At::kActive: active_.erase(order_of(entry)); break;
    case At::kBackOff: backing_off_.erase({entry.due.ns, entry.number}); break;
    case At::kUnschedulable:
      unschedulable_.erase({entry.due.ns, entry.number});
      if (entry.pod.waits_for_pods) --unschedulable_near_pods_;
      break;
    case At::kDeciding: break;
  }
}

void PodQueue::enter(Entries::iterator at, At where, base::Time now, base::Time due) {
  Entry& entry = at->second;
  entry.at = where;
  // A pause does not make a pod late: what counts is when it was decided on last.
  if (where != At::kActive || !entry.since.is_set()) entry.since = now;
  entry.due = due;
  switch (where) {
    case At::kActive: active_.emplace(order_of(entry), at); break;
    case At::kBackOff: backing_off_.emplace(Due{due.ns, entry.number}, at); break;
    case At::kUnschedulable:
      unschedulable_.emplace(Due{due.ns, entry.number}, at);
      if (entry.pod.waits_for_pods) ++unschedulable_near_pods_;
      break;
    case At::kDeciding: break;
  }
}

void PodQueue::put(WaitingPod pod, bool is_other, base::Time now) {
  auto [at, added] = entries_.try_emplace(pod.uid);
  Entry& entry = at->second;
  if (added) {
    entry.number = ++last_number_;
    entry.urgency = pod.urgency;
    entry.pod = std::move(pod);
    return enter(at, At::kActive, now);
  }
  leave(at);
  entry.urgency = entry.lost_bindings > 0 ? std::max(pod.urgency, kUrgentPod) : pod.urgency;
  entry.pod = std::move(pod);
  if (is_other && entry.at == At::kUnschedulable) return wake(at, now);
  enter(at, entry.at, entry.since, entry.due);
}

void PodQueue::remove(std::string_view uid) {
  const auto at = entries_.find(uid);
  if (at == entries_.end()) return;
  leave(at);
  entries_.erase(at);
}

std::optional<WaitingPod> PodQueue::take() {
  if (active_.empty()) return std::nullopt;
  const auto at = active_.begin()->second;
  leave(at);
  at->second.at = At::kDeciding;
  return at->second.pod;
}

void PodQueue::found_no_node(std::string_view uid, base::Time now) {
  const auto at = entries_.find(uid);
  if (at == entries_.end() || at->second.at != At::kDeciding) return;
  Entry& entry = at->second;
  ++entry.failures;
  entry.lost_bindings = 0;
  entry.urgency = entry.pod.urgency;
  enter(at, At::kUnschedulable, now, now + kUnschedulableMax);
}

void PodQueue::was_not_bound(std::string_view uid, base::Time now) {
  const auto at = entries_.find(uid);
  if (at == entries_.end() || at->second.at != At::kDeciding) return;
  Entry& entry = at->second;
  ++entry.lost_bindings;
  entry.urgency = std::max(entry.pod.urgency, kUrgentPod);
  entry.since = now;
  if (entry.lost_bindings == 1) return enter(at, At::kActive, now);
  enter(at, At::kBackOff, now, now + pause_after(entry.lost_bindings - 1));
}

// Back to its turn once the pause since its last failure is over.
void PodQueue::wake(Entries::iterator at, base::Time now) {
  Entry& entry = at->second;
  const base::Time due = entry.since + pause_after(entry.failures);
  const bool clock_went_back = due > now + kPauseMax;
  if (due <= now || clock_went_back) return enter(at, At::kActive, now);
  enter(at, At::kBackOff, entry.since, due);
}

void PodQueue::wake_unschedulable(base::Time now, bool only_near_pods) {
  if (only_near_pods && unschedulable_near_pods_ == 0) return;
  std::vector<Entries::iterator> waking;
  for (const auto& [due, at] : unschedulable_) {
    if (!only_near_pods || at->second.pod.waits_for_pods) waking.push_back(at);
  }
  for (const auto at : waking) {
    leave(at);
    wake(at, now);
  }
}

void PodQueue::pass_time(base::Time now) {
  // Due later than anything ever is: the clock went back meanwhile.
  while (!backing_off_.empty() && backing_off_.rbegin()->first.first > (now + kPauseMax).ns) {
    const auto at = backing_off_.rbegin()->second;
    leave(at);
    enter(at, At::kActive, now);
  }
  while (!unschedulable_.empty() && unschedulable_.rbegin()->first.first > (now + kUnschedulableMax).ns) {
    const auto at = unschedulable_.rbegin()->second;
    leave(at);
    wake(at, now);
  }
  while (!backing_off_.empty() && backing_off_.begin()->first.first <= now.ns) {
    const auto at = backing_off_.begin()->second;
    leave(at);
    enter(at, At::kActive, now);
  }
  while (!unschedulable_.empty() && unschedulable_.begin()->first.first <= now.ns) {
    const auto at = unschedulable_.begin()->second;
    leave(at);
    wake(at, now);
  }
}

std::optional<base::Time> PodQueue::next_due() const {
  std::optional<base::Time> out;
  for (const auto* parts : {&backing_off_, &unschedulable_}) {
    if (parts->empty()) continue;
    const base::Time due{parts->begin()->first.first};
    if (!out || due < *out) out = due;
  }
  return out;
}

std::vector<std::string> PodQueue::active_keys() const {
  std::vector<std::string> out;
  for (const auto& [order, at] : active_) out.push_back(at->second.pod.key);
  return out;
}

std::vector<std::string> PodQueue::unschedulable_keys() const {
  std::vector<std::string> out;
  for (const auto& [due, at] : unschedulable_) out.push_back(at->second.pod.key);
  return out;
}

}  // namespace scheduler
