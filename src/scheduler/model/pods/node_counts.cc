// Small counts per node.
#include "scheduler/model/pods/node_counts.h"

#include <algorithm>

namespace scheduler {

void NodeCounts::add(std::uint32_t node, std::int64_t amount) {
  auto at = std::lower_bound(entries_.begin(), entries_.end(), node,
                             [](const Entry& e, std::uint32_t n) { return e.node < n; });
  if (at == entries_.end() || at->node != node) at = entries_.insert(at, {node, 0});
  at->count += amount;
  if (at->count == 0) entries_.erase(at);
}

std::int64_t NodeCounts::get(std::uint32_t node) const {
  auto at = std::lower_bound(entries_.begin(), entries_.end(), node,
                             [](const Entry& e, std::uint32_t n) { return e.node < n; });
  return at != entries_.end() && at->node == node ? at->count : 0;
}

}  // namespace scheduler
