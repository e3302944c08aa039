// Which queues lie above a queue?
#pragma once

#include "scheduler/model/model.h"

namespace scheduler {

// Visits the queue itself, then those above it up to `root`. A parent that does not exist, or a circle, ends the walk;
// without a root (unset) nothing is above.
template <class Visit>
void for_each_up_to_root(const Model& model, QueueId root, QueueId queue, Visit&& visit) {
  const auto above = [&](QueueId at) {
    const std::string& parent = model.queue(at).parent;
    return parent.empty() ? root : model.find_queue(parent);
  };
  QueueId at = queue;
  for (std::size_t depth = 1;; ++depth) {
    visit(at);
    if (!root.is_set() || at == root) return;
    at = above(at);
    QueueId before = queue;  // paths are short: the way so far is walked again
    for (std::size_t i = 0; i < depth && at.is_set(); ++i, before = above(before))
      if (before == at) return;
    if (!at.is_set()) return;
  }
}

}  // namespace scheduler
