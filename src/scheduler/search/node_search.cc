// Which node is best for a pod, and why does none fit?
#include "scheduler/search/node_search.h"

#include <algorithm>
#include <string>
#include <utility>

#include "scheduler/model/nodes/column_kernels.h"
#include "scheduler/search/node_room.h"
#include "scheduler/search/node_search_state.h"
#include "scheduler/search/words_in_use.h"

namespace scheduler {
namespace {

constexpr std::size_t kClassesMax = 512;

std::size_t count_of(const NodeSet& nodes) {
  const WordRange range = words_in_use(nodes);
  return count_bits(nodes.words().data() + range.begin, range.end - range.begin);
}

}  // namespace

NodeSearch::NodeSearch(Model& model, const PluginSet& plugins, NodeSampler& sampler, std::uint32_t shared_pods_min)
    : model_(model),
      plugins_(plugins),
      sampler_(sampler),
      shard_(model),
      shared_pods_min_(shared_pods_min),
      domains_(model) {}

NodeSearch::~NodeSearch() = default;

void NodeSearch::open_cycle() {
  single_.reset();
  if (classes_.size() > kClassesMax) classes_.clear();
  for (auto& [key, state] : classes_) state->in_vain.reset();
  if (std::exchange(some_end_, false)) std::erase_if(classes_, [](const auto& one) { return !one.second->lasts; });
  if (shard_.open_cycle()) classes_.clear();
}

std::uint32_t NodeSearch::best_own_first(ClassState& state, const NodeSet& group) {
  if (model_.shards.mode != ShardingMode::kSoft) return scores_.best_of(state.scorers, group);
  return scores_.best_of(state.scorers, shard_.preferred(group));
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

std::optional<NodeChoice> NodeSearch::find(const Task& task, const NodeSet* within, FitErrors& errors) {
  return find_timed(task, within, errors, Room::kLater);
}

std::optional<NodeId> NodeSearch::find_now(const Task& task, FitErrors& errors) {
  const auto choice = find_timed(task, nullptr, errors, Room::kNow);
  return choice ? std::optional(choice->node) : std::nullopt;
}

void NodeSearch::keep_to_domain(const Task& task, NodeSet& nodes) {
  if (const NodeSet* domain = domains_.around(task)) nodes &= *domain;
}

std::vector<NodeId> NodeSearch::ranked_now(const Task& task) {
  NodeSet feasible = model_.nodes.known();
  keep_to_domain(task, feasible);
  shard_.keep(feasible, nullptr);
  keep_room(model_.nodes, model_.shape_of(task).request, Room::kNow, feasible);
  for (const auto& filter : state_for(task).filters) filter->narrow(feasible, Strictness::kPlace, nullptr);
  return ranked(task, feasible);
}

std::optional<NodeChoice> NodeSearch::find_timed(const Task& task, const NodeSet* within, FitErrors& errors,
                                                 Room wanted) {
  SearchTiming timing(clock_);
  NodeSet both;
  if (const NodeSet* domain = domains_.around(task)) {
    both = *domain;
    if (within != nullptr) both &= *within;
    within = &both;
    if (std::string name = domains_.name_of(task); !name.empty()) errors.set_label_domain(std::move(name));
  }
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
  shard_.keep(rest, &errors);
  explain_room(model_, request, rest, wanted, errors);
  keep_room(model_.nodes, request, wanted, rest);
  for (const auto& filter : filters) filter->narrow(rest, Strictness::kPlace, &errors);
}

// Time that is not marked as filtering counts as scoring.
std::optional<NodeChoice> NodeSearch::look(const Task& task, const NodeSet* within, FitErrors& errors, Room wanted,
                                           SearchTiming& timing) {
  ClassState& state = state_for(task);
  const Request& request = model_.shape_of(task).request;
  const bool whole = within == nullptr && !sampler_.options.on && model_.shards.mode != ShardingMode::kSoft;
  if (state.incremental && whole && model_.shape(task.shape).pending >= shared_pods_min_) {
    if (!state.frontier)
      state.frontier.emplace(model_, shard_, scores_, Frontier::Judges{state.filters, state.scorers, state.grouped});
    nodes_looked_at_ += state.frontier->catch_up(request, timing);
    timing.filtered();
    if (const NodeId best = state.frontier->best(); best.is_set()) return NodeChoice{best, false};
  }
  if (within == nullptr && state.in_vain && state.in_vain->touched_epoch == model_.touched_epoch() &&
      state.in_vain->touched_position == model_.touched().size() && state.in_vain->wanted == wanted) {
    errors = state.in_vain->errors;
    return std::nullopt;
  }
  NodeSet feasible = within != nullptr ? *within : model_.nodes.known();
  shard_.keep(feasible, nullptr);
  nodes_looked_at_ += count_of(feasible);
  const NodeSet looked_at = sampler_.options.on ? feasible : NodeSet();
  keep_room(model_.nodes, request, wanted, feasible);
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
  keep_idle(model_.nodes, request, idle);
  return best_choice(state, idle, feasible);
}

std::optional<NodeChoice> NodeSearch::find_without_resources(const Task& task, FitErrors& errors) {
  ClassState& state = state_for(task);
  NodeSet feasible = model_.nodes.known();
  keep_to_domain(task, feasible);
  const NodeSet in_domain = feasible;
  shard_.keep(feasible, nullptr);
  nodes_looked_at_ += feasible.count();
  const NodeSet looked_at = sampler_.options.on ? feasible : NodeSet();
  for (const auto& filter : state.filters) filter->narrow(feasible, Strictness::kPlace, nullptr);
  sampler_.reduce(looked_at, feasible);
  if (!feasible.empty()) return best_choice(state, feasible, feasible);
  NodeSet rest = in_domain;
  errors.set_node_count(rest.count());
  shard_.keep(rest, &errors);
  for (const auto& filter : state.filters) filter->narrow(rest, Strictness::kPlace, &errors);
  return std::nullopt;
}

NodeSet NodeSearch::candidates(const Task& task, Strictness strictness, const NodeSet& within, FitErrors* errors) {
  ClassState& state = state_for(task);
  NodeSet out = within;
  keep_to_domain(task, out);
  shard_.keep(out, errors);
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
  keep_to_domain(task, feasible);
  shard_.keep(feasible, nullptr);
  nodes_looked_at_ += count_of(feasible);
  keep_future_idle(model_.nodes, request, feasible);
  for (const auto& filter : state.filters) filter->narrow(feasible, Strictness::kPlace, nullptr);
  if (feasible.empty()) return std::nullopt;
  NodeSet idle = feasible;
  keep_idle(model_.nodes, request, idle);
  return NodeId{best_own_first(state, idle.empty() ? feasible : idle)};
}

bool NodeSearch::fits_filters(const Task& task, NodeId node) {
  if (const NodeSet* domain = domains_.around(task); domain != nullptr && !domain->has(node.index)) return false;
  ClassState& state = state_for(task);
  return std::all_of(state.filters.begin(), state.filters.end(), [&](const auto& f) { return f->fits(node.index); });
}

bool NodeSearch::is_node_by_node(const Task& task) {
  if (task.job.is_set() && model_.job(task.job).extras().domain_key.is_set()) return false;
  const ClassState& state = state_for(task);
  return std::none_of(state.filters.begin(), state.filters.end(),
                      [](const auto& filter) { return filter->reach() == Reach::kCluster; });
}

std::vector<NodeId> NodeSearch::ranked(const Task& task, const NodeSet& candidates) {
  ClassState& state = state_for(task);
  scores_.score(state.scorers, candidates);
  const std::vector<double>& totals = scores_.totals();
  std::vector<NodeId> out;
  candidates.for_each([&](std::uint32_t n) { out.push_back(NodeId{n}); });
  std::stable_sort(out.begin(), out.end(), [&](NodeId a, NodeId b) { return totals[a.index] > totals[b.index]; });
  shard_.own_first(out);
  return out;
}

}  // namespace scheduler
