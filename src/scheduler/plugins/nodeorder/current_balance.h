// How evenly are cpu and memory of each node used now? The part of the balanced allocation score that no pod changes.
#pragma once

#include <cstdint>
#include <vector>

#include "scheduler/model/model.h"

namespace scheduler {

// A column that follows the model: computed anew for nodes that were touched.
class CurrentBalance {
 public:
  // By node: 0 to 100 in whole points, 100 where cpu or memory is missing; a multiple of four of them, at least as many
  // as there are nodes. Valid until the next call.
  const std::vector<double>& column(const Model& model);

 private:
  std::vector<double> points_;
  std::uint64_t epoch_ = 0, generation_ = 0;
  std::size_t position_ = 0;
};

}  // namespace scheduler
