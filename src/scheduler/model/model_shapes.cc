// Which shape has a pod, and what do the terms of a new shape count?
#include "scheduler/model/model.h"

namespace scheduler {

ShapeId Model::shape_for(const api::Json& pod) {
  shape_key(pod, scratch_, &part_texts_);
  if (shapes_.has_many_unused() || pods.has_many_unused_matchers()) {
    shapes_.give_back([&](const Shape& shape) { use_matchers(pods, shape, -1); });
    pods.give_back_matchers();
  }
  if (const ShapeId known = shapes_.find(scratch_); known.is_set()) return known;
  pods.gather_matchers();
  const ShapeId id = shapes_.add(scratch_, shape_from(pod, dimensions, symbols, pods));
  pods.sign_gathered();
  use_matchers(pods, shapes_[id], 1);
  settle_matchers();
  return id;
}

void Model::settle_matchers() {
  const std::vector<MatcherId> fresh = pods.take_new_matchers();
  if (fresh.empty()) return;
  for (const Task& task : tasks_) {
    if (!task.in_use || !task.node.is_set() || !(effects_of(task.status) & kEffectSeen)) continue;
    for (const MatcherId matcher : fresh) {
      if (pods.matches(matcher, task.labels)) pods.count(matcher, task.node, is_releasing(task.status), 1);
    }
  }
}

}  // namespace scheduler
