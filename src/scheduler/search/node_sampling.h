// How many feasible nodes are enough, where sampling was asked for?
#pragma once

#include <cstddef>
#include <cstdint>

#include "scheduler/model/nodes/node_set.h"

namespace scheduler {

struct SamplingOptions {
  bool on = false;  // without it every node counts
  std::int64_t feasible_min = 100;
  std::int64_t percentage_min = 5;
  std::int64_t percentage = 0;  // 0 or less: fewer the more nodes there are
};

class NodeSampler {
 public:
  SamplingOptions options;

  // The number of feasible nodes looked for among `nodes`: 1000 -> 420, 5000 -> 500, 10000 -> 500 by default.
  std::size_t wanted(std::size_t nodes) const;
  // Keeps of `feasible` what a walk over `all` finds that begins where the last one ended and stops when it has enough.
  // The position is shared by all pods and actions of the process, as in Volcano.
  void reduce(const NodeSet& all, NodeSet& feasible);

 private:
  std::size_t next_ = 0;
};

}  // namespace scheduler
