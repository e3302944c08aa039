// The turns of pods that are decided one by one.
#include "scheduler/single_pods/single_pods.h"

#include <algorithm>

#include "scheduler/model/missing_claim.h"

namespace scheduler {

void SinglePods::queue_or_hold(WaitingPod pod, TaskId id, bool is_other, base::Time now) {
  if (auto claim = missing_claim(model_, model_.task(id))) {
    const std::string uid = pod.uid;
    if (holds_.hold(std::move(pod), *std::move(claim), now)) queue_.remove(uid);
    return;
  }
  holds_.release(pod.uid);
  queue_.put(std::move(pod), is_other, now);
}

void SinglePods::take_news(base::Time now) {
  const PodNewsList news = intake_.pods.take_news();
  for (const PodNews& one : news.pods) {
    const TaskId id = model_.find_task(one.key);
    const bool is_known = id.is_set() && model_.text(id).uid == one.uid;
    if (one.kind == PodNews::Kind::kLeft) {
      queue_.remove(one.uid);
      holds_.release(one.uid);
    }
    if (one.kind == PodNews::Kind::kNotBound) queue_.was_not_bound(one.uid, now);
    if (one.kind != PodNews::Kind::kWaits || !is_known) continue;
    WaitingPod pod{one.uid, one.key, one.urgency, model_.task(id).pod_priority,
                   model_.shape_of(model_.task(id)).reads_pods()};
    queue_or_hold(std::move(pod), id, one.is_other, now);
  }
  for (const std::string& claim : news.claims) {
    for (WaitingPod& pod : holds_.lacking(claim)) {
      const TaskId id = model_.find_task(pod.key);
      if (id.is_set()) queue_or_hold(std::move(pod), id, true, now);
    }
  }
  if (news.room_came)
    queue_.something_changed(now);
  else if (news.some_placed)
    queue_.pod_was_placed(now);
}

void SinglePods::object_changed(const api::ResourceId& id, bool matters, base::Time now) {
  if (matters && id != api::resources::kPods) queue_.something_changed(now);
  take_news(now);
}

void SinglePods::facts_changed(base::Time now) {
  queue_.something_changed(now);
  take_news(now);
}

std::vector<TaskId> SinglePods::take_turns(std::size_t count_max, base::Time now) {
  take_news(now);
  queue_.pass_time(now);
  for (WaitingPod& pod : holds_.take_overdue(now)) queue_.put(std::move(pod), true, now);
  std::vector<TaskId> out;
  while (out.size() < count_max) {
    const auto pod = queue_.take();
    if (!pod) break;
    const TaskId id = model_.find_task(pod->key);
    const bool waits = id.is_set() && model_.text(id).uid == pod->uid && model_.task(id).ours &&
                       model_.task(id).status == TaskStatus::kPending && !model_.task(id).gated;
    if (waits)
      out.push_back(id);
    else
      queue_.remove(pod->uid);
  }
  return out;
}

void SinglePods::record_ends(const std::vector<SinglePodEnd>& ends, base::Time now) {
  for (const SinglePodEnd& one : ends) {
    if (one.has_node) continue;
    const std::string uid = model_.text(one.task).uid.str();
    if (holds_.holds(uid))
      queue_.remove(uid);  // it was told, and its claim brings it back
    else
      queue_.found_no_node(uid, now);
  }
}

std::optional<base::Time> SinglePods::next_due() const {
  const auto queue = queue_.next_due(), holds = holds_.next_due();
  return queue && holds ? std::min(queue, holds) : queue ? queue : holds;
}

std::vector<std::string> SinglePods::unschedulable_keys() const {
  std::vector<std::string> out = queue_.unschedulable_keys();
  const std::vector<std::string> held = holds_.reported_keys();
  out.insert(out.end(), held.begin(), held.end());
  return out;
}

}  // namespace scheduler
