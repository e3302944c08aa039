// Which node is best for a pod, and why does none fit?
#include "scheduler/search/node_search.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "base/format.h"
#include "scheduler/model/nodes/column_kernels.h"
#include "scheduler/model/nodes/score_kernels.h"
#include "scheduler/search/node_search_state.h"

namespace scheduler {
namespace {

constexpr std::size_t kClassesMax = 512;
constexpr std::string_view kNotOurShard = "node isn't in scheduler node shard";

// The words that hold the members: a domain's nodes mostly stand together, and the rest need not be looked at.
struct WordRange {
  std::size_t begin = 0;
  std::size_t end = 0;
};
WordRange words_in_use(const NodeSet& nodes) {
  const std::vector<std::uint64_t>& words = nodes.words();
  WordRange out{0, words.size()};
  while (out.begin < out.end && words[out.begin] == 0) ++out.begin;
  while (out.end > out.begin && words[out.end - 1] == 0) --out.end;
  return out;
}

std::size_t count_of(const NodeSet& nodes) {
  const WordRange range = words_in_use(nodes);
  return count_bits(nodes.words().data() + range.begin, range.end - range.begin);
}

// Whether there is exactly one member.
bool is_single(const NodeSet& nodes) {
  const WordRange range = words_in_use(nodes);
  return range.end == range.begin + 1 && std::has_single_bit(nodes.words()[range.begin]);
}

}  // namespace

NodeSearch::NodeSearch(Model& model, const PluginSet& plugins, NodeSampler& sampler, std::uint32_t shared_pods_min)
    : model_(model), plugins_(plugins), sampler_(sampler), shared_pods_min_(shared_pods_min) {}

NodeSearch::~NodeSearch() = default;

void NodeSearch::open_cycle() {
  single_.reset();
  if (classes_.size() > kClassesMax) classes_.clear();
  for (auto& [key, state] : classes_) state->in_vain.reset();
  if (std::exchange(some_end_, false)) std::erase_if(classes_, [](const auto& one) { return !one.second->lasts; });
  if (model_.shards.mode == ShardingMode::kNone) return;
  NodeSet own = model_.nodes.known();
  own.clear();
  for (const std::string& name : model_.shards.usable()) {
    const NodeId node = model_.nodes.find(name);
    if (node.is_set() && model_.nodes.known().has(node.index)) own.add(node.index);
  }
  if (own.words() != shard_.words()) classes_.clear();
  shard_ = std::move(own);
}

void NodeSearch::keep_shard(NodeSet& nodes, FitErrors* errors) const {
  if (model_.shards.mode != ShardingMode::kHard) return;
  if (errors != nullptr) {
    NodeSet foreign = nodes;
    foreign.subtract(shard_);
    errors->add(kNotOurShard, foreign.count());
    errors->add_unresolvable(foreign);
  }
  nodes &= shard_;
}

std::uint32_t NodeSearch::best_own_first(ClassState& state, const NodeSet& group) {
  if (model_.shards.mode == ShardingMode::kSoft) {
    NodeSet own = group;
    own &= shard_;
    if (!own.empty()) return best_of(state, own);
  }
  return best_of(state, group);
}

NodeChoice NodeSearch::best_choice(ClassState& state, const NodeSet& now, const NodeSet& feasible) {
  const bool future = now.empty();
  return {NodeId{best_own_first(state, future ? feasible : now)}, future};
}

NodeSearch::ClassState& NodeSearch::state_for(const Task& task) {
  const std::uint32_t signature = model_.pods.label_set(task.labels).signature;
  const std::uint32_t extra = plugins_.ask<ClassKey>(task);
  const std::uint64_t key = (std::uint64_t{task.shape.index} << 32 | signature) + extra * 0x9e3779b97f4a7c15ull;
  const std::uint64_t generation = model_.nodes.static_generation() + model_.pods.ownership_changes() +
                                   model_.volumes.generation() + model_.hyper_nodes.object_changes() +
                                   model_.id_returns();
  const bool shared = model_.shape(task.shape).pending >= shared_pods_min_;
  std::unique_ptr<ClassState>& slot = shared ? classes_[key] : single_;
  if (slot && slot->key == key && slot->shape == task.shape && slot->extra == extra && slot->generation == generation)
    return *slot;
  if (shared && classes_.size() > kClassesMax) {
    classes_.clear();
    return state_for(task);
  }
  slot = std::make_unique<ClassState>();
  slot->key = key;
  slot->shape = task.shape;
  slot->extra = extra;
  slot->generation = generation;
  slot->filters = plugins_.ask<Predicate>(task);
  slot->scorers = plugins_.ask<NodeOrder>(task);
  slot->incremental = true;
  for (const auto& filter : slot->filters) {
    slot->incremental &= filter->reach() != Reach::kCluster;
    slot->lasts &= filter->lasts();
  }
  for (const auto& scorer : slot->scorers) {
    slot->lasts &= scorer->lasts();
    if (slot->grouped == nullptr && scorer->groups() != nullptr)
      slot->grouped = scorer.get();
    else
      slot->incremental &= scorer->reach() != Reach::kCluster && scorer->normalise() != NodeScorer::Normalise::kWhole;
  }
  some_end_ |= shared && !slot->lasts;
  return *slot;
}

void NodeSearch::room(const Request& request, bool future, NodeSet& nodes) const {
  future = future && model_.nodes.future_differs();
  const WordRange range = words_in_use(nodes);
  std::uint64_t* words = nodes.words().data() + range.begin;
  const std::size_t count = range.end - range.begin, first = range.begin * 64;
  for (const Part& part : request.parts) {
    const std::int64_t* idle = model_.nodes.idle(part.dim).data() + first;
    if (future) {
      keep_future_at_least(idle, model_.nodes.releasing(part.dim).data() + first,
                           model_.nodes.pipelined(part.dim).data() + first, part.amount, words, count);
    } else {
      keep_at_least(idle, part.amount, words, count);
    }
  }
}

bool NodeSearch::fits_future(const Task& task, NodeId node) const {
  for (const Part& part : model_.shape_of(task).request.parts) {
    if (part.amount > model_.nodes.future_idle(part.dim, node.index)) return false;
  }
  return true;
}

bool NodeSearch::some_node_has_room(const Task& task) const {
  NodeSet nodes = model_.nodes.known();
  room(model_.shape_of(task).request, true, nodes);
  return !nodes.empty();
}

bool NodeSearch::fits_idle(const Task& task, NodeId node) const {
  for (const Part& part : model_.shape_of(task).request.parts) {
    if (part.amount > model_.nodes.idle(part.dim)[node.index]) return false;
  }
  return true;
}

void NodeSearch::keep_room(const Request& request, Room wanted, NodeSet& nodes) const {
  room(request, true, nodes);
  if (wanted == Room::kNow && model_.nodes.future_differs()) room(request, false, nodes);
}

void NodeSearch::explain_room(const Request& request, const NodeSet& nodes, FitErrors& errors, Room wanted) const {
  std::vector<std::size_t> short_of(request.parts.size());
  nodes.for_each([&](std::uint32_t n) {
    for (std::size_t i = 0; i < request.parts.size(); ++i) {
      const Part& part = request.parts[i];
      const bool is_short = part.amount > model_.nodes.future_idle(part.dim, n) ||
                            (wanted == Room::kNow && part.amount > model_.nodes.idle(part.dim)[n]);
      if (!is_short) continue;
      ++short_of[i];
      break;
    }
  });
  for (std::size_t i = 0; i < short_of.size(); ++i) {
    errors.add_short_of(model_.dimensions.name(request.parts[i].dim), short_of[i]);
  }
}

std::optional<NodeChoice> NodeSearch::find(const Task& task, const NodeSet* within, FitErrors& errors) {
  return find_timed(task, within, errors, Room::kLater);
}

std::optional<NodeId> NodeSearch::find_now(const Task& task, FitErrors& errors) {
  const auto choice = find_timed(task, nullptr, errors, Room::kNow);
  return choice ? std::optional(choice->node) : std::nullopt;
}

std::vector<NodeId> NodeSearch::ranked_now(const Task& task) {
  NodeSet feasible = model_.nodes.known();
  keep_shard(feasible, nullptr);
  keep_room(model_.shape_of(task).request, Room::kNow, feasible);
  for (const auto& filter : state_for(task).filters) filter->narrow(feasible, Strictness::kPlace, nullptr);
  return ranked(task, feasible);
}

std::optional<NodeChoice> NodeSearch::find_timed(const Task& task, const NodeSet* within, FitErrors& errors,
                                                 Room wanted) {
  Timing timing(clock_);
  std::optional<NodeChoice> out = look(task, within, errors, wanted, timing);
  if (clock_) {
    timing.scored();
    times_.push_back(timing.time());
  }
  return out;
}

void NodeSearch::explain(const Filters& filters, const Request& request, const NodeSet* within, FitErrors& errors,
                         Room wanted) {
  NodeSet rest = within != nullptr ? *within : model_.nodes.known();
  errors.set_node_count(within != nullptr ? rest.count() : model_.nodes.known_count());
  keep_shard(rest, &errors);
  explain_room(request, rest, errors, wanted);
  keep_room(request, wanted, rest);
  for (const auto& filter : filters) filter->narrow(rest, Strictness::kPlace, &errors);
}

// Time that is not marked as filtering counts as scoring.
std::optional<NodeChoice> NodeSearch::look(const Task& task, const NodeSet* within, FitErrors& errors, Room wanted,
                                           Timing& timing) {
  ClassState& state = state_for(task);
  const Request& request = model_.shape_of(task).request;
  const bool whole = within == nullptr && !sampler_.options.on && model_.shards.mode != ShardingMode::kSoft;
  if (state.incremental && whole && model_.shape(task.shape).pending >= shared_pods_min_) {
    catch_up(state, request, timing);
    timing.filtered();
    const std::uint32_t best = best_of_frontier(state);
    if (best != NodeId::kNone && state.candidates.has(best)) return NodeChoice{NodeId{best}, false};
  }
  if (within == nullptr && state.in_vain && state.in_vain->touched_epoch == model_.touched_epoch() &&
      state.in_vain->touched_position == model_.touched().size() && state.in_vain->wanted == wanted) {
    errors = state.in_vain->errors;
    return std::nullopt;
  }
  NodeSet feasible = within != nullptr ? *within : model_.nodes.known();
  keep_shard(feasible, nullptr);
  nodes_looked_at_ += count_of(feasible);
  const NodeSet looked_at = sampler_.options.on ? feasible : NodeSet();
  keep_room(request, wanted, feasible);
  for (const auto& filter : state.filters) filter->narrow(feasible, Strictness::kPlace, nullptr);
  if (feasible.empty()) {
    explain(state.filters, request, within, errors, wanted);
    timing.filtered();
    if (within == nullptr && !sampler_.options.on) {
      state.in_vain.emplace(ClassState::InVain{model_.touched_epoch(), model_.touched().size(), wanted, errors});
    }
    return std::nullopt;
  }
  sampler_.reduce(looked_at, feasible);
  timing.filtered();
  if (wanted == Room::kNow || !model_.nodes.future_differs()) return best_choice(state, feasible, feasible);
  NodeSet idle = feasible;
  room(request, false, idle);
  return best_choice(state, idle, feasible);
}

std::optional<NodeChoice> NodeSearch::find_without_resources(const Task& task, FitErrors& errors) {
  ClassState& state = state_for(task);
  NodeSet feasible = model_.nodes.known();
  keep_shard(feasible, nullptr);
  nodes_looked_at_ += feasible.count();
  const NodeSet looked_at = sampler_.options.on ? feasible : NodeSet();
  for (const auto& filter : state.filters) filter->narrow(feasible, Strictness::kPlace, nullptr);
  sampler_.reduce(looked_at, feasible);
  if (!feasible.empty()) return best_choice(state, feasible, feasible);
  errors.set_node_count(model_.nodes.known_count());
  NodeSet rest = model_.nodes.known();
  keep_shard(rest, &errors);
  for (const auto& filter : state.filters) filter->narrow(rest, Strictness::kPlace, &errors);
  return std::nullopt;
}

NodeSet NodeSearch::candidates(const Task& task, Strictness strictness, const NodeSet& within, FitErrors* errors) {
  ClassState& state = state_for(task);
  NodeSet out = within;
  keep_shard(out, errors);
  nodes_looked_at_ += count_of(out);
  const NodeSet looked_at = sampler_.options.on ? out : NodeSet();
  for (const auto& filter : state.filters) filter->narrow(out, strictness, errors);
  sampler_.reduce(looked_at, out);
  return out;
}

std::optional<NodeId> NodeSearch::find_for_promise(const Task& task, const NodeSet& within) {
  ClassState& state = state_for(task);
  const Request& request = model_.shape_of(task).request;
  NodeSet feasible = within;
  keep_shard(feasible, nullptr);
  nodes_looked_at_ += count_of(feasible);
  room(request, true, feasible);
  for (const auto& filter : state.filters) filter->narrow(feasible, Strictness::kPlace, nullptr);
  if (feasible.empty()) return std::nullopt;
  NodeSet idle = feasible;
  room(request, false, idle);
  return NodeId{best_own_first(state, idle.empty() ? feasible : idle)};
}

bool NodeSearch::fits_filters(const Task& task, NodeId node) {
  ClassState& state = state_for(task);
  return std::all_of(state.filters.begin(), state.filters.end(), [&](const auto& f) { return f->fits(node.index); });
}

bool NodeSearch::is_node_by_node(const Task& task) {
  const ClassState& state = state_for(task);
  return std::none_of(state.filters.begin(), state.filters.end(),
                      [](const auto& filter) { return filter->reach() == Reach::kCluster; });
}

std::vector<NodeId> NodeSearch::ranked(const Task& task, const NodeSet& candidates) {
  ClassState& state = state_for(task);
  score_all(state, candidates);
  std::vector<NodeId> out;
  candidates.for_each([&](std::uint32_t n) { out.push_back(NodeId{n}); });
  std::stable_sort(out.begin(), out.end(), [&](NodeId a, NodeId b) { return totals_[a.index] > totals_[b.index]; });
  own_first(out);
  return out;
}

void NodeSearch::own_first(std::vector<NodeId>& nodes) const {
  if (model_.shards.mode != ShardingMode::kSoft) return;
  std::stable_partition(nodes.begin(), nodes.end(), [&](NodeId node) { return shard_.has(node.index); });
}

void NodeSearch::score_all(ClassState& state, const NodeSet& group, const NodeScorer* without) {
  // The totals of nodes outside the group's words are not read.
  const WordRange range = words_in_use(group);
  totals_.resize(group.words().size() * 64);
  std::fill(totals_.begin() + static_cast<std::ptrdiff_t>(range.begin * 64),
            totals_.begin() + static_cast<std::ptrdiff_t>(range.end * 64), 0.0);
  for (const auto& scorer : state.scorers) {
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

std::uint32_t NodeSearch::best_of(ClassState& state, const NodeSet& group) {
  if (is_single(group)) return group.first();
  score_all(state, group);
  const WordRange range = words_in_use(group);
  const std::size_t begin = range.begin * 64;
  return static_cast<std::uint32_t>(
      begin + first_highest(totals_.data() + begin, group.words().data() + range.begin, range.end - range.begin));
}

}  // namespace scheduler
