// The ranking of the nodes for one class of pods, kept current while pods are placed.
#include "scheduler/search/frontier.h"

#include <algorithm>
#include <bit>

#include "scheduler/search/node_room.h"

namespace scheduler {
namespace {

bool is_normalised(const NodeScorer& scorer) {
  return scorer.normalise() != NodeScorer::Normalise::kNone && scorer.normalise() != NodeScorer::Normalise::kWhole;
}

// The better of two nodes: more points, then the lower id.
std::uint32_t better(const std::vector<double>& totals, std::uint32_t a, std::uint32_t b) {
  if (a == NodeId::kNone) return b;
  if (b == NodeId::kNone) return a;
  if (totals[a] != totals[b]) return totals[a] > totals[b] ? a : b;
  return std::min(a, b);
}

}  // namespace

bool Frontier::judge(const Request& request, std::uint32_t node) {
  if (!model_.nodes.known().has(node)) return false;
  if (shard_.is_barred(node)) return false;
  for (const Part& part : request.parts) {
    const std::int64_t idle = model_.nodes.idle(part.dim)[node];
    if (part.amount > idle || part.amount > model_.nodes.future_idle(part.dim, node)) return false;
  }
  return std::all_of(judges_.filters.begin(), judges_.filters.end(), [&](const auto& f) { return f->fits(node); });
}

double Frontier::total_of(std::uint32_t node) {
  double total = 0;
  for (std::size_t i = 0; i < judges_.scorers.size(); ++i) {
    NodeScorer& scorer = *judges_.scorers[i];
    if (&scorer == judges_.grouped) continue;
    if (is_normalised(scorer)) {
      total += scorer.weight() *
               static_cast<double>(normalised(scorer.normalise(), scorer.raw(node), raw_min_[i], raw_max_[i]));
    } else {
      total += scorer.weight() * scorer.score(node);
    }
  }
  return total;
}

// Counts a node's raw values in or out; true when an extreme moved, which changes every candidate's score.
bool Frontier::update_extremes(std::uint32_t node, bool enters) {
  bool moved = false;
  for (std::size_t i = 0; i < judges_.scorers.size(); ++i) {
    if (!is_normalised(*judges_.scorers[i])) continue;
    auto& counts = raw_counts_[i];
    const std::int64_t raw = judges_.scorers[i]->raw(node);
    if (enters)
      ++counts[raw];
    else if (auto found = counts.find(raw); found != counts.end() && --found->second == 0)
      counts.erase(found);
    const std::int64_t min = counts.empty() ? 0 : counts.begin()->first;
    const std::int64_t max = counts.empty() ? 0 : counts.rbegin()->first;
    moved |= min != raw_min_[i] || max != raw_max_[i];
    raw_min_[i] = min;
    raw_max_[i] = max;
  }
  return moved;
}

void Frontier::fix_tree(std::uint32_t node) {
  std::size_t at = leaves_ + (position_.empty() ? node : position_[node]);
  tree_[at] = candidates_.has(node) ? node : NodeId::kNone;
  for (at /= 2; at >= 1; at /= 2) tree_[at] = better(totals_, tree_[2 * at], tree_[2 * at + 1]);
  if (judges_.grouped != nullptr) find_best_in_group(judges_.grouped->groups()->of_node[node]);
}

// The best among the group's positions: the few subtrees that cover them.
void Frontier::find_best_in_group(std::uint32_t group) {
  std::uint32_t best = NodeId::kNone;
  std::size_t low = leaves_ + group_begin_[group], high = leaves_ + group_begin_[group + 1];
  for (; low < high; low /= 2, high /= 2) {
    if (low % 2 == 1) best = better(totals_, best, tree_[low++]);
    if (high % 2 == 1) best = better(totals_, best, tree_[--high]);
  }
  best_in_group_[group] = best;
}

// Nodes of one group stand side by side in the tree.
void Frontier::place_groups() {
  const NodeGroups& groups = *judges_.grouped->groups();
  group_begin_.assign(groups.count + 1, 0);
  for (const std::uint32_t group : groups.of_node) ++group_begin_[group + 1];
  for (std::size_t g = 0; g < groups.count; ++g) group_begin_[g + 1] += group_begin_[g];
  std::vector<std::uint32_t> next = group_begin_;
  position_.resize(groups.of_node.size());
  for (std::uint32_t n = 0; n < groups.of_node.size(); ++n) position_[n] = next[groups.of_node[n]]++;
  best_in_group_.assign(groups.count, NodeId::kNone);
}

void Frontier::build_tree() {
  for (std::size_t i = leaves_ - 1; i >= 1; --i) tree_[i] = better(totals_, tree_[2 * i], tree_[2 * i + 1]);
  for (std::uint32_t g = 0; g < best_in_group_.size(); ++g) find_best_in_group(g);
}

std::uint32_t Frontier::winner() {
  if (judges_.grouped == nullptr) return tree_.empty() ? NodeId::kNone : tree_[1];
  judges_.grouped->score_groups(group_scores_);
  std::uint32_t best = NodeId::kNone;
  double most = 0;
  for (std::size_t g = 0; g < best_in_group_.size(); ++g) {
    const std::uint32_t node = best_in_group_[g];
    if (node == NodeId::kNone) continue;
    const double total = totals_[node] + group_scores_[g];
    if (best != NodeId::kNone && (total < most || (total == most && node > best))) continue;
    best = node;
    most = total;
  }
  return best;
}

std::uint64_t Frontier::build(const Request& request, SearchTiming& timing) {
  candidates_ = model_.nodes.known();
  shard_.keep(candidates_, nullptr);
  keep_idle(model_.nodes, request, candidates_);
  keep_future_idle(model_.nodes, request, candidates_);
  for (const auto& filter : judges_.filters) filter->narrow(candidates_, Strictness::kPlace, nullptr);
  timing.filtered();
  raw_counts_.assign(judges_.scorers.size(), {});
  raw_min_.assign(judges_.scorers.size(), 0);
  raw_max_.assign(judges_.scorers.size(), 0);
  candidates_.for_each([&](std::uint32_t n) { update_extremes(n, true); });
  scores_.score(judges_.scorers, candidates_, judges_.grouped);
  totals_ = scores_.totals();
  leaves_ = std::bit_ceil(std::max<std::size_t>(totals_.size(), 1));
  tree_.assign(2 * leaves_, NodeId::kNone);
  if (judges_.grouped != nullptr) place_groups();
  candidates_.for_each([&](std::uint32_t n) { tree_[leaves_ + (position_.empty() ? n : position_[n])] = n; });
  build_tree();
  built_ = true;
  touched_epoch_ = model_.touched_epoch();
  touched_position_ = model_.touched().size();
  timing.scored();
  return model_.nodes.known_count();
}

// A few nodes at a time, whose filters and scores are not told apart: they count as filtering.
std::uint64_t Frontier::catch_up(const Request& request, SearchTiming& timing) {
  const auto& touched = model_.touched();
  const bool stale = !built_ || touched_epoch_ != model_.touched_epoch() ||
                     candidates_.words().size() != model_.nodes.known().words().size() ||
                     touched.size() - touched_position_ > model_.nodes.size() / 2 + 8;
  if (stale) return build(request, timing);
  std::uint64_t looked_at = 0;
  bool moved = false;
  for (; touched_position_ < touched.size(); ++touched_position_) {
    const std::uint32_t node = touched[touched_position_];
    ++looked_at;
    const bool was = candidates_.has(node);
    const bool is = judge(request, node);
    if (was != is) {
      is ? candidates_.add(node) : candidates_.remove(node);
      moved |= update_extremes(node, is);
    }
    if (is) totals_[node] = total_of(node);
    if (was || is) fix_tree(node);
  }
  if (!moved) return looked_at;
  candidates_.for_each([&](std::uint32_t n) { totals_[n] = total_of(n); });
  build_tree();
  return looked_at;
}

NodeId Frontier::best() {
  const std::uint32_t best = winner();
  return best != NodeId::kNone && candidates_.has(best) ? NodeId{best} : NodeId{};
}

}  // namespace scheduler
