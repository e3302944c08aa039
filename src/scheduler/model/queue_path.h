// Which queues lie above a queue?
#pragma once

#include <algorithm>
#include <vector>

#include "scheduler/model/model.h"

namespace scheduler {

// Visits the queue itself, then those above it up to `root`. A parent that does not exist, or a circle, ends the walk;
// without a root (unset) nothing is above.
template <class Visit>
void for_each_up_to_root(const Model& model, QueueId root, QueueId queue, Visit&& visit) {
  std::vector<QueueId> walked;
  while (queue.is_set() && std::find(walked.begin(), walked.end(), queue) == walked.end()) {
    visit(queue);
    if (!root.is_set() || queue == root) return;
    walked.push_back(queue);
    const std::string& parent = model.queue(queue).parent;
    queue = parent.empty() ? root : model.find_queue(parent);
  }
}

}  // namespace scheduler
