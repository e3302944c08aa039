// How many feasible nodes are enough, where sampling was asked for?
#include "scheduler/search/node_sampling.h"

#include <algorithm>
#include <vector>

namespace scheduler {

std::size_t NodeSampler::wanted(std::size_t nodes) const {
  const auto n = static_cast<std::int64_t>(nodes);
  if (!options.on || n <= options.feasible_min || options.percentage >= 100) return nodes;
  std::int64_t percentage = options.percentage;
  if (percentage <= 0) percentage = std::max(50 - n / 125, options.percentage_min);
  const std::int64_t out = std::max(n * std::min<std::int64_t>(percentage, 100) / 100, options.feasible_min);
  return static_cast<std::size_t>(std::clamp<std::int64_t>(out, 1, n));
}

void NodeSampler::reduce(const NodeSet& all, NodeSet& feasible) {
  if (!options.on) return;
  std::vector<std::uint32_t> nodes;
  all.for_each([&](std::uint32_t n) { nodes.push_back(n); });
  if (nodes.empty()) return;
  const std::size_t enough = wanted(nodes.size()), start = next_ % nodes.size();
  NodeSet found = feasible;
  found.clear();
  std::size_t visited = 0, count = 0;
  for (; visited < nodes.size() && count < enough; ++visited) {
    const std::uint32_t n = nodes[(start + visited) % nodes.size()];
    if (!feasible.has(n)) continue;
    found.add(n);
    ++count;
  }
  next_ = (start + visited) % nodes.size();
  feasible = std::move(found);
}

}  // namespace scheduler
