// How many points has each node for one class of pods?
#include "scheduler/search/node_scores.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "scheduler/model/nodes/score_kernels.h"
#include "scheduler/search/words_in_use.h"

namespace scheduler {
namespace {

// Whether there is exactly one member.
bool is_single(const NodeSet& nodes) {
  const WordRange range = words_in_use(nodes);
  return range.end == range.begin + 1 && std::has_single_bit(nodes.words()[range.begin]);
}

}  // namespace

void NodeScores::score(const Scorers& scorers, const NodeSet& group, const NodeScorer* without) {
  // The totals of nodes outside the group's words are not read.
  const WordRange range = words_in_use(group);
  totals_.resize(group.words().size() * 64);
  std::fill(totals_.begin() + static_cast<std::ptrdiff_t>(range.begin * 64),
            totals_.begin() + static_cast<std::ptrdiff_t>(range.end * 64), 0.0);
  for (const auto& scorer : scorers) {
    if (scorer.get() == without) continue;
    const auto normalise = scorer->normalise();
    if (normalise == NodeScorer::Normalise::kNone || normalise == NodeScorer::Normalise::kWhole) {
      scorer->add_scores(group, totals_);
      continue;
    }
    std::int64_t min = std::numeric_limits<std::int64_t>::max(), max = std::numeric_limits<std::int64_t>::min();
    group.for_each([&](std::uint32_t n) {
      const std::int64_t raw = scorer->raw(n);
      min = std::min(min, raw);
      max = std::max(max, raw);
    });
    group.for_each([&](std::uint32_t n) {
      totals_[n] += scorer->weight() * static_cast<double>(normalised(normalise, scorer->raw(n), min, max));
    });
  }
}

std::uint32_t NodeScores::best_of(const Scorers& scorers, const NodeSet& group) {
  if (is_single(group)) return group.first();
  score(scorers, group);
  const WordRange range = words_in_use(group);
  const std::size_t begin = range.begin * 64;
  return static_cast<std::uint32_t>(
      begin + first_highest(totals_.data() + begin, group.words().data() + range.begin, range.end - range.begin));
}

}  // namespace scheduler
