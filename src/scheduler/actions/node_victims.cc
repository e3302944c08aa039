// Which pods of one node make room for a task, at the least cost?
#include "scheduler/actions/node_victims.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "scheduler/actions/eviction_units.h"

namespace scheduler {
namespace {

// Every set of so many pods is looked at; of more pods, the most expensive are spared one after the other.
constexpr std::size_t kExactMax = 10;
// So many sets are held against the filters of one node.
constexpr std::size_t kProofsMax = 64;

struct Lacking {
  Dim dim;
  std::int64_t amount;
};

// Amounts of the task's request that the node lacks.
std::vector<Lacking> lacking_on(const Model& model, const Task& task, NodeId node) {
  std::vector<Lacking> out;
  for (const Part& part : model.shape_of(task).request.parts) {
    const std::int64_t room = model.nodes.future_idle(part.dim, node.index);
    if (part.amount > room) out.push_back({part.dim, part.amount - room});
  }
  return out;
}

class Amounts {
 public:
  Amounts(const Model& model, NodeId node, std::vector<Lacking> lacking)
      : model_(model), node_(node), lacking_(std::move(lacking)) {}

  bool are_enough(const std::vector<TaskId>& victims) const {
    return std::all_of(lacking_.begin(), lacking_.end(), [&](const Lacking& one) {
      std::int64_t sum = 0;
      for (const TaskId id : victims) sum += freed_by(id, one.dim);
      return sum >= one.amount;
    });
  }
  // Removes from the back, which is the most expensive end, whatever is not needed.
  void spare(std::vector<TaskId>& victims) const {
    for (std::size_t i = victims.size(); i-- > 0;) {
      const TaskId spared = victims[i];
      victims.erase(victims.begin() + static_cast<std::ptrdiff_t>(i));
      if (!are_enough(victims)) victims.insert(victims.begin() + static_cast<std::ptrdiff_t>(i), spared);
    }
  }

 private:
  // On the node.
  std::int64_t freed_by(TaskId id, Dim dim) const {
    std::int64_t out = 0;
    for_each_gone_with(model_, id, [&](TaskId one) {
      const Task& gone = model_.task(one);
      if (gone.node == node_) out += model_.shape_of(gone).request.get(dim);
    });
    return out;
  }

  const Model& model_;
  const NodeId node_;
  const std::vector<Lacking> lacking_;
};

bool are_alike(const Model& model, const std::vector<TaskId>& tasks) {
  const Task& first = model.task(tasks.front());
  return std::all_of(tasks.begin(), tasks.end(), [&](TaskId id) {
    const Task& one = model.task(id);
    return one.shape == first.shape && one.job == first.job && !goes_whole(model, id) &&
           one.pod_priority == first.pod_priority && model.details.started_ns(id) == model.details.started_ns(first.id);
  });
}

std::vector<TaskId> members_of(const std::vector<TaskId>& tasks, std::uint32_t mask) {
  std::vector<TaskId> out;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (mask >> i & 1) out.push_back(tasks[i]);
  }
  return out;
}

struct Priced {
  EvictionCost cost;
  std::uint32_t mask = 0;
  // Between equals, the one whose last victim goes earlier.
  auto operator<=>(const Priced&) const = default;
};

// Sets whose amounts are enough, the cheapest first. `tasks` are at most kExactMax.
std::vector<Priced> priced_sets(const Model& model, const std::vector<TaskId>& tasks, const Amounts& amounts,
                                const EvictionCosts& costs) {
  std::vector<Priced> out;
  for (std::uint32_t mask = 0; mask < std::uint32_t{1} << tasks.size(); ++mask) {
    const std::vector<TaskId> members = members_of(tasks, mask);
    if (amounts.are_enough(members)) out.push_back({cost_with_all_gone(model, costs, members), mask});
  }
  std::sort(out.begin(), out.end());
  return out;
}

// The cheap ones first; between equals the order stays.
void sort_by_cost(const Model& model, std::vector<TaskId>& tasks, const EvictionCosts& costs) {
  std::vector<std::pair<EvictionCost, TaskId>> keyed;
  keyed.reserve(tasks.size());
  for (const TaskId id : tasks)
    keyed.emplace_back(goes_whole(model, id) ? cost_with_all_gone(model, costs, {id}) : costs.of_one(id), id);
  std::stable_sort(keyed.begin(), keyed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::size_t i = 0; i < tasks.size(); ++i) tasks[i] = keyed[i].second;
}

// All of one kind: only their number counts. Nothing: they are not enough.
std::optional<std::size_t> number_needed(const Model& model, const std::vector<TaskId>& alike,
                                         const std::vector<Lacking>& lacking) {
  std::int64_t most = 0;
  for (const Lacking& one : lacking) {
    const std::int64_t each = model.shape_of(model.task(alike.front())).request.get(one.dim);
    if (each <= 0) return std::nullopt;
    most = std::max(most, (one.amount + each - 1) / each);
  }
  if (most > static_cast<std::int64_t>(alike.size())) return std::nullopt;
  return static_cast<std::size_t>(most);
}

}  // namespace

std::optional<VictimChoice> NodeVictims::choose(const Task& task, NodeId node,
                                                const std::vector<TaskId>& may_go) const {
  const std::vector<Lacking> lacking = lacking_on(model_, task, node);
  if (lacking.empty()) return VictimChoice{};
  if (may_go.empty()) return std::nullopt;
  if (are_alike(model_, may_go)) {
    const auto number = number_needed(model_, may_go, lacking);
    if (!number) return std::nullopt;
    VictimChoice out{{may_go.begin(), may_go.begin() + static_cast<std::ptrdiff_t>(*number)}, {}};
    out.cost = costs_.of(out.victims);
    return out;
  }
  const Amounts amounts(model_, node, lacking);
  if (!amounts.are_enough(may_go)) return std::nullopt;
  VictimChoice out{may_go, {}};
  sort_by_cost(model_, out.victims, costs_);
  amounts.spare(out.victims);
  if (may_go.size() <= kExactMax && out.victims.size() < may_go.size()) {
    budget_.spend(std::int64_t{1} << may_go.size());
    out.victims = members_of(may_go, priced_sets(model_, may_go, amounts, costs_).front().mask);
  }
  out.cost = cost_with_all_gone(model_, costs_, out.victims);
  return out;
}

bool NodeVictims::fits_node(const Task& task, NodeId node) const {
  return fits_future(session_.model(), task, node) && session_.search().fits_filters(task, node);
}

bool NodeVictims::is_allocatable(const Task& task) const {
  return session_.ask<Allocatable>(model_.queue(model_.job(task.job).queue), task);
}

void NodeVictims::evict(const std::vector<TaskId>& victims, JobId beneficiary) {
  for (const TaskId id : with_all_gone(model_, victims)) session_.journal().evict(id, action_, beneficiary);
}

// Leaves the evictions where it fits.
bool NodeVictims::fits_without(const Task& task, NodeId node, const std::vector<TaskId>& victims, Mark mark) {
  budget_.spend(1 + static_cast<std::int64_t>(victims.size()));
  evict(victims, task.job);
  if (fits(task, node)) return true;
  session_.journal().rollback(mark);
  return false;
}

// Evicts one unit after the other, then takes back what is not needed, from the most expensive on.
std::optional<VictimChoice> NodeVictims::evict_until_it_fits(const Task& task, NodeId node, std::vector<TaskId> may_go,
                                                             Mark mark) {
  sort_by_cost(model_, may_go, costs_);
  std::vector<std::vector<TaskId>> gone;  // all that went with each
  bool works = false;
  for (std::size_t i = 0; i < may_go.size() && !works && budget_.spend(2); ++i) {
    gone.push_back(with_all_gone(model_, {may_go[i]}));
    for (const TaskId id : gone.back()) session_.journal().evict(id, action_, task.job);
    works = fits(task, node);
  }
  if (!works) {
    was_limited_ = fits_node(task, node);
    session_.journal().rollback(mark);
    return std::nullopt;
  }
  VictimChoice out;
  for (std::size_t i = gone.size(); i-- > 0;) {
    budget_.spend(2);
    for (const TaskId id : gone[i]) session_.journal().unevict(id);
    if (fits(task, node)) continue;
    for (const TaskId id : gone[i]) session_.journal().evict(id, action_, task.job);
    out.victims.push_back(may_go[i]);
  }
  session_.journal().rollback(mark);
  out.cost = cost_with_all_gone(model_, costs_, out.victims);
  return out;
}

std::optional<VictimChoice> NodeVictims::prove(const Task& task, NodeId node, const std::vector<TaskId>& may_go,
                                               VictimChoice chosen) {
  was_limited_ = false;
  const Mark mark = session_.journal().mark();
  const auto with_all = [&](const VictimChoice& choice) {
    return VictimChoice{with_all_gone(model_, choice.victims), choice.cost};
  };
  const VictimChoice all_chosen = with_all(chosen);
  if (fits_without(task, node, chosen.victims, mark)) return all_chosen;
  std::optional<VictimChoice> out = evict_until_it_fits(task, node, may_go, mark);
  if (!out) return std::nullopt;
  if (may_go.size() <= kExactMax) {
    const Amounts amounts(model_, node, lacking_on(model_, task, node));
    budget_.spend(std::int64_t{1} << may_go.size());
    std::size_t proofs = 0;
    for (const Priced& one : priced_sets(model_, may_go, amounts, costs_)) {
      if (!(one.cost < out->cost) || ++proofs > kProofsMax) break;
      const std::vector<TaskId> members = members_of(may_go, one.mask);
      const VictimChoice cheaper = with_all({members, one.cost});
      if (fits_without(task, node, members, mark)) return cheaper;
    }
  }
  const VictimChoice all = with_all(*out);
  evict(out->victims, task.job);
  return all;
}

}  // namespace scheduler
