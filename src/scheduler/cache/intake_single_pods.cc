// API objects in, the model kept current: what is told of pods that are decided one by one.
#include <algorithm>
#include <cstdint>
#include <limits>

#include "base/number.h"
#include "scheduler/cache/intake_pod.h"

namespace scheduler {
namespace {

constexpr std::string_view kUrgency = "volcano.sh/scheduling-priority";

std::int64_t urgency_of(const api::Json& pod) {
  const auto urgency = base::parse_number<std::int64_t>(api::annotation_of(pod, kUrgency)).value_or(0);
  return std::max(urgency, -std::numeric_limits<std::int64_t>::max());  // queues negate it
}

// As much of a task as says whether a pod waits, and what it takes where.
struct PodState {
  bool ours = false;
  bool waits = false;
  std::string uid;
  NodeId node;  // where it takes room
  ShapeId shape;
  LabelSetId labels;
  std::int32_t priority = 0;
};

PodState state_of(const Model& model, TaskId id) {
  PodState out;
  if (!id.is_set()) return out;
  const Task& task = model.task(id);
  out.ours = task.ours;
  out.waits = out.ours && task.status == TaskStatus::kPending && !task.gated;
  out.uid = model.text(id).uid.str();
  if (effects_of(task.status) & kEffectUsed) out.node = task.node;
  out.shape = task.shape;
  out.labels = task.labels;
  out.priority = task.pod_priority;
  return out;
}

void compare_rooms(const PodState& before, const PodState& now, PodNewsList& news) {
  const bool stays = before.node == now.node && before.shape == now.shape;
  news.room_came |= before.node.is_set() && !stays;
  news.some_placed |= now.node.is_set() && (before.node != now.node || before.labels != now.labels);
}

}  // namespace

bool PodIntake::set_single(const api::Json& pod) {
  const std::string key = api::key_of(pod);
  const PodState before = state_of(model_, model_.find_task(key));
  if (!take(pod)) return false;
  const PodState now = state_of(model_, model_.find_task(key));
  compare_rooms(before, now, news_);
  if (before.ours && (!now.waits || now.uid != before.uid))
    news_.pods.push_back({PodNews::Kind::kLeft, key, before.uid});
  if (!now.waits) return true;
  const bool is_same = before.waits && before.uid == now.uid && before.shape == now.shape &&
                       before.labels == now.labels && before.priority == now.priority;
  news_.pods.push_back({PodNews::Kind::kWaits, key, now.uid, urgency_of(pod), !is_same});
  return true;
}

bool PodIntake::remove_single(const api::Json& pod) {
  const std::string key = api::key_of(pod);
  const PodState before = state_of(model_, model_.find_task(key));
  if (!drop(pod)) return false;
  compare_rooms(before, {}, news_);
  if (before.ours) news_.pods.push_back({PodNews::Kind::kLeft, key, before.uid});
  return true;
}

void PodIntake::record_not_bound(std::string_view key, std::string_view uid) {
  news_.room_came = true;
  news_.pods.push_back({PodNews::Kind::kNotBound, std::string(key), std::string(uid)});
}

}  // namespace scheduler
