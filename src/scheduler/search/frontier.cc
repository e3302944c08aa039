// How does the ranking of the nodes for one class of pods stay current while pods are placed?
#include <algorithm>
#include <limits>

#include "scheduler/search/node_search.h"
#include "scheduler/search/node_search_state.h"

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

bool NodeSearch::judge(ClassState& state, const Request& request, std::uint32_t node) {
  if (!model_.nodes.known().has(node)) return false;
  if (model_.shards.mode == ShardingMode::kHard && !shard_.has(node)) return false;
  for (const Part& part : request.parts) {
    const std::int64_t idle = model_.nodes.idle(part.dim)[node];
    if (part.amount > idle || part.amount > model_.nodes.future_idle(part.dim, node)) return false;
  }
  return std::all_of(state.filters.begin(), state.filters.end(), [&](const auto& f) { return f->fits(node); });
}

double NodeSearch::total_of(ClassState& state, std::uint32_t node) {
  double total = 0;
  for (std::size_t i = 0; i < state.scorers.size(); ++i) {
    NodeScorer& scorer = *state.scorers[i];
    if (&scorer == state.grouped) continue;
    if (is_normalised(scorer)) {
      total += scorer.weight() * static_cast<double>(normalised(scorer.normalise(), scorer.raw(node), state.raw_min[i],
                                                                state.raw_max[i]));
    } else {
      total += scorer.weight() * scorer.score(node);
    }
  }
  return total;
}

// Counts a node's raw values in or out; true when an extreme moved, which changes every candidate's score.
bool NodeSearch::update_extremes(ClassState& state, std::uint32_t node, bool enters) {
  bool moved = false;
  for (std::size_t i = 0; i < state.scorers.size(); ++i) {
    if (!is_normalised(*state.scorers[i])) continue;
    auto& counts = state.raw_counts[i];
    const std::int64_t raw = state.scorers[i]->raw(node);
    if (enters)
      ++counts[raw];
    else if (auto found = counts.find(raw); found != counts.end() && --found->second == 0)
      counts.erase(found);
    const std::int64_t min = counts.empty() ? 0 : counts.begin()->first;
    const std::int64_t max = counts.empty() ? 0 : counts.rbegin()->first;
    moved |= min != state.raw_min[i] || max != state.raw_max[i];
    state.raw_min[i] = min;
    state.raw_max[i] = max;
  }
  return moved;
}

void NodeSearch::fix_tree(ClassState& state, std::uint32_t node) {
  std::size_t at = state.leaves + (state.position.empty() ? node : state.position[node]);
  state.tree[at] = state.candidates.has(node) ? node : NodeId::kNone;
  for (at /= 2; at >= 1; at /= 2) state.tree[at] = better(state.totals, state.tree[2 * at], state.tree[2 * at + 1]);
  if (state.grouped != nullptr) find_best_in_group(state, state.grouped->groups()->of_node[node]);
}

// The best among the group's positions: the few subtrees that cover them.
void NodeSearch::find_best_in_group(ClassState& state, std::uint32_t group) {
  std::uint32_t best = NodeId::kNone;
  std::size_t low = state.leaves + state.group_begin[group], high = state.leaves + state.group_begin[group + 1];
  for (; low < high; low /= 2, high /= 2) {
    if (low % 2 == 1) best = better(state.totals, best, state.tree[low++]);
    if (high % 2 == 1) best = better(state.totals, best, state.tree[--high]);
  }
  state.best_in_group[group] = best;
}

// Nodes of one group stand side by side in the tree.
void NodeSearch::place_groups(ClassState& state) {
  const NodeGroups& groups = *state.grouped->groups();
  state.group_begin.assign(groups.count + 1, 0);
  for (const std::uint32_t group : groups.of_node) ++state.group_begin[group + 1];
  for (std::size_t g = 0; g < groups.count; ++g) state.group_begin[g + 1] += state.group_begin[g];
  std::vector<std::uint32_t> next = state.group_begin;
  state.position.resize(groups.of_node.size());
  for (std::uint32_t n = 0; n < groups.of_node.size(); ++n) state.position[n] = next[groups.of_node[n]]++;
  state.best_in_group.assign(groups.count, NodeId::kNone);
}

void NodeSearch::build_tree(ClassState& state) {
  for (std::size_t i = state.leaves - 1; i >= 1; --i)
    state.tree[i] = better(state.totals, state.tree[2 * i], state.tree[2 * i + 1]);
  for (std::uint32_t g = 0; g < state.best_in_group.size(); ++g) find_best_in_group(state, g);
}

std::uint32_t NodeSearch::best_of_frontier(ClassState& state) {
  if (state.grouped == nullptr) return state.tree.empty() ? NodeId::kNone : state.tree[1];
  state.grouped->score_groups(state.group_scores);
  std::uint32_t best = NodeId::kNone;
  double most = 0;
  for (std::size_t g = 0; g < state.best_in_group.size(); ++g) {
    const std::uint32_t node = state.best_in_group[g];
    if (node == NodeId::kNone) continue;
    const double total = state.totals[node] + state.group_scores[g];
    if (best != NodeId::kNone && (total < most || (total == most && node > best))) continue;
    best = node;
    most = total;
  }
  return best;
}

void NodeSearch::build_frontier(ClassState& state, const Request& request, Timing& timing) {
  state.candidates = model_.nodes.known();
  keep_shard(state.candidates, nullptr);
  nodes_looked_at_ += model_.nodes.known_count();
  room(request, false, state.candidates);
  room(request, true, state.candidates);
  for (const auto& filter : state.filters) filter->narrow(state.candidates, Strictness::kPlace, nullptr);
  timing.filtered();
  state.raw_counts.assign(state.scorers.size(), {});
  state.raw_min.assign(state.scorers.size(), 0);
  state.raw_max.assign(state.scorers.size(), 0);
  state.candidates.for_each([&](std::uint32_t n) { update_extremes(state, n, true); });
  score_all(state, state.candidates, state.grouped);
  state.totals = totals_;
  state.leaves = std::bit_ceil(std::max<std::size_t>(state.totals.size(), 1));
  state.tree.assign(2 * state.leaves, NodeId::kNone);
  if (state.grouped != nullptr) place_groups(state);
  state.candidates.for_each(
      [&](std::uint32_t n) { state.tree[state.leaves + (state.position.empty() ? n : state.position[n])] = n; });
  build_tree(state);
  state.built = true;
  state.touched_epoch = model_.touched_epoch();
  state.touched_position = model_.touched().size();
  timing.scored();
}

// A few nodes at a time, whose filters and scores are not told apart: they count as filtering.
void NodeSearch::catch_up(ClassState& state, const Request& request, Timing& timing) {
  const auto& touched = model_.touched();
  const bool stale = !state.built || state.touched_epoch != model_.touched_epoch() ||
                     state.candidates.words().size() != model_.nodes.known().words().size() ||
                     touched.size() - state.touched_position > model_.nodes.size() / 2 + 8;
  if (stale) return build_frontier(state, request, timing);
  bool moved = false;
  for (; state.touched_position < touched.size(); ++state.touched_position) {
    const std::uint32_t node = touched[state.touched_position];
    ++nodes_looked_at_;
    const bool was = state.candidates.has(node);
    const bool is = judge(state, request, node);
    if (was != is) {
      is ? state.candidates.add(node) : state.candidates.remove(node);
      moved |= update_extremes(state, node, is);
    }
    if (is) state.totals[node] = total_of(state, node);
    if (was || is) fix_tree(state, node);
  }
  if (!moved) return;
  state.candidates.for_each([&](std::uint32_t n) { state.totals[n] = total_of(state, n); });
  build_tree(state);
}

}  // namespace scheduler
