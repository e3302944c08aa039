// On which node does a pod find a place at the least cost to others?
#include "scheduler/actions/victim_search.h"

#include <algorithm>
#include <utility>

#include "scheduler/actions/eviction_oracle.h"
#include "scheduler/actions/victims.h"
#include "scheduler/session/victim_order.h"

namespace scheduler {
namespace {

// So many pods stand for all that could be displaced, where people are told why none goes.
constexpr std::size_t kSeenMax = 64;

}  // namespace

std::vector<TaskId> candidates_on(Session& session, const EvictionRule& rule, const Task& task, NodeId node) {
  return tasks_on(session, node, [&](const Task& other) { return rule.displaceable(task, other); });
}

VictimSearch::VictimSearch(Session& session, const EvictionCosts& costs, SearchBudget& budget, EvictionRule rule)
    : session_(session),
      model_(session.model()),
      costs_(costs),
      budget_(budget),
      rule_(std::move(rule)),
      victims_(session, costs, budget, rule_.action) {}

bool VictimSearch::is_same_class(const Task& task, std::uint64_t sharing) const {
  return is_known_ && was_node_by_node_ && task.shape == shape_ && sharing == sharing_ &&
         model_.pods.label_set(task.labels).signature == signature_ && session_.search().is_node_by_node(task);
}

VictimSearch::Offer VictimSearch::offer_of(const Task& task, NodeId node) {
  Offer out;
  const std::vector<TaskId> candidates = candidates_on(session_, rule_, task, node);
  budget_.spend(1 + static_cast<std::int64_t>(candidates.size()));
  if (is_pricing_all_ && seen_.size() < kSeenMax) seen_.insert(seen_.end(), candidates.begin(), candidates.end());
  for (const Part& part : model_.shape_of(task).request.parts) {
    std::int64_t room = model_.nodes.future_idle(part.dim, node.index);
    for (const TaskId id : candidates) room += model_.shape_of(model_.task(id)).request.get(part.dim);
    if (part.amount > room) return out;
  }
  out.may_go = units_that_may_go(model_, task, candidates, rule_.displaceable, rule_.may_go);
  sort_as_victims(session_, task, out.may_go);
  out.choice = victims_.choose(task, node, out.may_go);
  return out;
}

void VictimSearch::push(std::uint32_t node) {
  heap_.push_back({session_.search().shard().is_foreign(NodeId{node}), prices_[node].cost, ranks_[node], node});
  std::push_heap(heap_.begin(), heap_.end());
}

const VictimSearch::Offer& VictimSearch::last_offer(const Task& task, NodeId node) {
  const bool is_same = offer_node_ == node && offer_job_ == task.job && offer_position_ == model_.touched().size();
  if (is_same) return offer_;
  offer_ = offer_of(task, node);
  offer_node_ = node;
  offer_job_ = task.job;
  offer_position_ = model_.touched().size();
  return offer_;
}

void VictimSearch::put(const Task& task, NodeId node) {
  const Offer& offer = last_offer(task, node);
  Price& price = prices_[node.index];
  price = {.is_open = offer.choice.has_value()};
  if (!offer.choice) return;
  price.cost = offer.choice->cost;
  push(node.index);
}

void VictimSearch::price_all(const Task& task, const NodeSet& within, std::uint64_t sharing) {
  shape_ = task.shape;
  signature_ = model_.pods.label_set(task.labels).signature;
  sharing_ = sharing;
  is_known_ = true;
  was_node_by_node_ = session_.search().is_node_by_node(task);
  offer_node_ = {};
  within_ = within;
  heap_.clear();
  proven_.clear();
  seen_.clear();
  gave_way_ = false;
  left_out_ = 0;
  prices_.assign(within.words().size() * 64, Price{});
  ranks_.assign(prices_.size(), 0);
  std::vector<NodeId> order;
  within.for_each([&](std::uint32_t n) { order.push_back(NodeId{n}); });
  session_.search().shard().own_first(order);
  for (std::uint32_t i = 0; i < order.size(); ++i) ranks_[order[i].index] = i;
  is_pricing_all_ = true;
  for (const NodeId node : order) {
    if (budget_.is_spent())
      ++left_out_;
    else
      put(task, node);
  }
  is_pricing_all_ = false;
  position_ = model_.touched().size();
}

// Nodes whose columns changed have another price.
void VictimSearch::price_touched(const Task& task, const NodeSet& within) {
  std::vector<std::uint32_t> nodes(model_.touched().begin() + static_cast<std::ptrdiff_t>(position_),
                                   model_.touched().end());
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  for (const std::uint32_t node : nodes) {
    if (within.has(node)) put(task, NodeId{node});
  }
  position_ = model_.touched().size();
}

// The top is a price that holds.
void VictimSearch::drop_stale() {
  while (!heap_.empty()) {
    const Entry& top = heap_.front();
    const Price& price = prices_[top.node];
    if (price.is_open && price.cost == top.cost && ranks_[top.node] == top.rank) return;
    std::pop_heap(heap_.begin(), heap_.end());
    heap_.pop_back();
  }
}

// Between nodes of the lowest price the best score decides, as of now.
void VictimSearch::rank_by_score(const Task& task) {
  const EvictionCost cost = heap_.front().cost;
  NodeSet equals = within_;
  equals.clear();
  std::size_t count = 0;
  for (const Entry& one : heap_) {
    if (one.cost != cost || !prices_[one.node].is_open || equals.has(one.node)) continue;
    equals.add(one.node);
    ++count;
  }
  if (count < 2) return;
  std::uint32_t rank = 0;
  for (const NodeId node : session_.search().ranked(task, within_)) {
    if (equals.has(node.index)) ranks_[node.index] = rank++;
  }
  std::erase_if(heap_, [&](const Entry& one) { return equals.has(one.node); });
  std::make_heap(heap_.begin(), heap_.end());
  equals.for_each([&](std::uint32_t node) { push(node); });
}

// The evictions stay where the proof costs what the node's price said; a dearer one becomes the price.
std::optional<EvictionChoice> VictimSearch::prove(const Task& task, NodeId node) {
  const Journal::Mark mark = session_.journal().mark();
  const Offer& offer = last_offer(task, node);
  Price& price = prices_[node.index];
  if (offer.choice && !price.is_final && price.cost < offer.choice->cost) {
    price.cost = offer.choice->cost;
    push(node.index);
    return std::nullopt;
  }
  std::optional<VictimChoice> proven;
  if (offer.choice) proven = victims_.prove(task, node, offer.may_go, *offer.choice);
  price.is_open = proven.has_value();
  if (!proven) {
    if (victims_.was_limited()) proven_.push_back(node.index);
    return std::nullopt;
  }
  if (!(price.cost < proven->cost)) {
    mark_shaken(proven->victims);
    return EvictionChoice{node, proven->victims.size()};
  }
  session_.journal().rollback(mark);
  price.cost = proven->cost;
  price.is_final = true;
  push(node.index);
  proven_.push_back(node.index);
  return std::nullopt;
}

// The victims are evicted.
void VictimSearch::mark_shaken(const std::vector<TaskId>& victims) {
  shaken_.clear();
  for (const TaskId id : victims) {
    const JobId job_id = model_.task(id).job;
    if (!job_id.is_set() || std::find(shaken_.begin(), shaken_.end(), job_id) != shaken_.end()) continue;
    const Job& job = model_.job(job_id);
    const auto gone = static_cast<std::int32_t>(
        std::count_if(victims.begin(), victims.end(), [&](TaskId one) { return model_.task(one).job == job_id; }));
    const std::int32_t spare = job.ready_count() - job.min_available;
    if ((spare <= 0 && spare + gone > 0) || (spare < 0 && spare + gone >= 0)) shaken_.push_back(job_id);
  }
}

// Evictions may have relaxed the limits of queues: nodes that were priced by proofs may cost less, or work at last.
void VictimSearch::price_again(const Task& task) {
  std::vector<std::uint32_t> nodes = std::exchange(proven_, {});
  for (const JobId job : shaken_) {
    for (const TaskId id : model_.job(job).tasks) {
      const NodeId node = model_.task(id).node;
      if (node.is_set() && within_.has(node.index)) nodes.push_back(node.index);
    }
  }
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  for (const std::uint32_t node : nodes) put(task, NodeId{node});
}

NodeId VictimSearch::pop_cheapest(const Task& task) {
  drop_stale();
  if (heap_.empty()) return {};
  if (rule_.by_score && ranked_ != heap_.front().cost) {
    ranked_ = heap_.front().cost;
    rank_by_score(task);
  }
  const NodeId out{heap_.front().node};
  std::pop_heap(heap_.begin(), heap_.end());
  heap_.pop_back();
  return out;
}

std::optional<EvictionChoice> VictimSearch::run(const Task& task, const NodeSet& within, std::uint64_t sharing) {
  last_job_ = task.job;
  if (is_same_class(task, sharing)) {
    price_touched(task, within_);
    if (std::exchange(gave_way_, false)) price_again(task);
  } else {
    price_all(task, within, sharing);
  }
  ranked_.reset();
  for (NodeId node = pop_cheapest(task); node.is_set(); node = pop_cheapest(task)) {
    const std::size_t before = model_.touched().size();
    const Journal::Mark mark = session_.journal().mark();
    if (const auto found = prove(task, node)) {
      if (session_.input().proves_rollbacks && !budget_.is_spent())
        hold_against_all(session_, costs_, rule_, task, within_, mark);
      gave_way_ = found->victims > 0;
      position_ = before;  // what other nodes were touched for was taken back
      return found;
    }
    if (budget_.is_spent()) break;
  }
  position_ = model_.touched().size();
  if (budget_.is_spent()) session_.evictions().record_nodes_left_out(left_out_ + heap_.size());
  return std::nullopt;
}

}  // namespace scheduler
