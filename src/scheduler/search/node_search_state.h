// The memory of a node search about one class of pods.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "scheduler/search/node_search.h"

namespace scheduler {

// The Kubernetes rules for turning raw values into 0..100 among the candidates.
inline std::int64_t normalised(NodeScorer::Normalise rule, std::int64_t raw, std::int64_t min, std::int64_t max) {
  switch (rule) {
    case NodeScorer::Normalise::kMax: return max == 0 ? raw : 100 * raw / max;
    case NodeScorer::Normalise::kReverseMax: return max == 0 ? 100 : 100 - 100 * raw / max;
    case NodeScorer::Normalise::kMinMax:
      return max == min
                 ? 0
                 : static_cast<std::int64_t>(100.0 * (static_cast<double>(raw - min) / static_cast<double>(max - min)));
    default: return raw;
  }
}

// Splits the time of one search between filters and scores.
class NodeSearch::Timing {
 public:
  explicit Timing(const std::function<double()>& clock) : clock_(clock), last_(clock ? clock() : 0) {}
  void filtered() { lap(&SearchTime::filters); }
  void scored() { lap(&SearchTime::scores); }
  const SearchTime& time() const { return time_; }

 private:
  void lap(double SearchTime::*part) {
    if (!clock_) return;
    const double now = clock_();
    time_.*part += now - std::exchange(last_, now);
  }

  const std::function<double()>& clock_;
  SearchTime time_;
  double last_;
};

struct NodeSearch::ClassState {
  std::uint64_t key = ~std::uint64_t{0};
  ShapeId shape;
  std::uint32_t extra = 0;
  std::uint64_t generation = 0;
  std::vector<std::unique_ptr<NodeFilter>> filters;
  std::vector<std::unique_ptr<NodeScorer>> scorers;
  bool incremental = false;
  bool lasts = true;  // for more than one cycle
  // The one scorer that speaks of groups only. Its part is left out of `totals` and added when groups are compared.
  NodeScorer* grouped = nullptr;
  std::vector<std::uint32_t> position;     // of each node in the tree: groups stand together; empty: its id
  std::vector<std::uint32_t> group_begin;  // by group: its first position; one more at the end
  std::vector<std::uint32_t> best_in_group;
  std::vector<double> group_scores;

  // The last search over all nodes that found none in this cycle. As long as nothing moves, the next finds none either,
  // for the same reasons.
  struct InVain {
    std::uint64_t touched_epoch;
    std::size_t touched_position;
    Room wanted;
    FitErrors errors;
  };
  std::optional<InVain> in_vain;

  // The frontier: nodes with room now that pass all filters, with their scores.
  bool built = false;
  std::uint64_t touched_epoch = 0;
  std::size_t touched_position = 0;
  NodeSet candidates;
  std::vector<double> totals;
  std::vector<std::uint32_t> tree;  // [1] is the winner; leaves from `leaves` on
  std::size_t leaves = 0;
  // Per normalised scorer: how often each raw value occurs among the candidates.
  std::vector<std::map<std::int64_t, std::uint32_t>> raw_counts;
  std::vector<std::int64_t> raw_min, raw_max;
};

}  // namespace scheduler
