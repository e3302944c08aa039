// Which queues lie above a queue?
#pragma once

#include "scheduler/model/model.h"

namespace scheduler {

// Visits the queue itself, then those above it up to `root`. A parent that does not exist, or a circle, ends the walk;
// without a root (unset) nothing is above.
template <class Visit>
void for_each_up_to_root(const Model& model, QueueId root, QueueId queue, Visit&& visit) {
  visit(queue);
  if (!root.is_set()) return;
  for (std::size_t steps = 0; queue != root && steps < model.queue_count(); ++steps) {
    const std::string& parent = model.queue(queue).parent;
    queue = parent.empty() ? root : model.find_queue(parent);
    if (!queue.is_set()) return;
    visit(queue);
  }
}

}  // namespace scheduler
