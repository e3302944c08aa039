// Follows the nodes that were touched.
#include "scheduler/plugins/nodeorder/current_balance.h"

#include "scheduler/plugins/nodeorder/capacity_kernel.h"

namespace scheduler {

const std::vector<double>& CurrentBalance::column(const Model& model) {
  const NodeTable& nodes = model.nodes;
  const std::size_t rows = (nodes.size() + 3) / 4 * 4;
  const auto points_of = [&](std::size_t n) {
    return balance_points(nodes.seen_cpu()[n], nodes.allocatable(kCpu)[n], nodes.seen_memory()[n],
                          nodes.allocatable(kMemory)[n]);
  };
  if (epoch_ != model.touched_epoch() || generation_ != nodes.static_generation() || points_.size() != rows) {
    points_.resize(rows);
    for (std::size_t n = 0; n < rows; ++n) points_[n] = points_of(n);
  } else {
    for (std::size_t i = position_; i < model.touched().size(); ++i) {
      const std::uint32_t n = model.touched()[i];
      if (n < rows) points_[n] = points_of(n);
    }
  }
  epoch_ = model.touched_epoch();
  generation_ = nodes.static_generation();
  position_ = model.touched().size();
  return points_;
}

}  // namespace scheduler
