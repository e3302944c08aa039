// The memory of a node search about one class of pods.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "scheduler/search/frontier.h"
#include "scheduler/search/node_search.h"

namespace scheduler {

struct NodeSearch::ClassState {
  std::uint64_t key = ~std::uint64_t{0};
  ShapeId shape;
  std::uint32_t extra = 0;
  std::uint64_t generation = 0;
  Filters filters;
  Scorers scorers;
  bool incremental = false;
  bool lasts = true;              // for more than one cycle
  NodeScorer* grouped = nullptr;  // the one scorer that speaks of groups only

  // The last search over all nodes that found none in this cycle. As long as nothing moves, the next finds none either,
  // for the same reasons.
  struct InVain {
    std::uint64_t touched_epoch;
    std::size_t touched_position;
    Room wanted;
    FitErrors errors;
  };
  std::optional<InVain> in_vain;

  std::optional<Frontier> frontier;  // once several pods of the class have waited
};

}  // namespace scheduler
