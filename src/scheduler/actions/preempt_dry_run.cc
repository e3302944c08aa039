// Preemption that looks before it leaps: on which node would the fewest and least important pods have to go?
#include "scheduler/actions/preempt_dry_run.h"

#include <algorithm>
#include <limits>

#include "scheduler/actions/victims.h"
#include "scheduler/session/victim_order.h"

namespace scheduler {
namespace {

class DryRun {
 public:
  DryRun(Session& session, const Task& task, const EvictionRule& rule)
      : session_(session), model_(session.model()), task_(task), rule_(rule) {}

  // The victims that must leave the node; nobody when that does not help, or is not needed.
  std::vector<TaskId> victims_on(NodeId node) {
    const auto may_go = [this](const Task& task, const std::vector<TaskId>& candidates) {
      return session_.ask<Preemptable>(task, candidates);
    };
    std::vector<TaskId> victims =
        units_that_may_go(model_, task_, candidates_on(session_, rule_, task_, node), rule_.displaceable, may_go);
    if (victims.empty() || !victims_suffice(session_, task_, node, with_all_gone(model_, victims))) return {};
    sort_as_victims(session_, task_, victims);
    const Journal::Mark mark = session_.journal().mark();
    std::vector<std::vector<TaskId>> removed;  // by unit
    bool possible = true;
    for (const TaskId victim : victims) {
      const std::vector<TaskId> unit = with_all_gone(model_, {victim});
      possible = std::all_of(unit.begin(), unit.end(),
                             [this](TaskId id) { return session_.ask<SimulateRemoveTask>(model_.task(id)); });
      if (!possible) break;
      evict(unit);
      removed.push_back(unit);
      if (fits(node)) break;
    }
    // COMPAT(preempt-dry-run-limit): without any victim left the queue's limit could still say no.
    possible = possible && fits(node);
    std::vector<TaskId> needed;
    for (std::size_t i = removed.size(); possible && i-- > 0;) {
      for (const TaskId id : removed[i]) session_.journal().unevict(id);
      if (fits(node)) continue;
      evict(removed[i]);
      needed.insert(needed.end(), removed[i].begin(), removed[i].end());
    }
    session_.journal().rollback(mark);
    return needed;
  }

 private:
  void evict(const std::vector<TaskId>& unit) {
    for (const TaskId id : unit) session_.journal().evict(id, "preempt", task_.job);
  }

  bool fits(NodeId node) {
    return session_.ask<SimulateAllocatable>(model_.queue(model_.job(task_.job).queue), task_) &&
           fits_future(session_.model(), task_, node) && session_.search().fits_filters(task_, node);
  }

  Session& session_;
  Model& model_;
  const Task& task_;
  const EvictionRule& rule_;
};

// The cost by which candidates are compared, the better one smaller.
struct Price {
  std::int64_t highest_priority = 0;
  std::int64_t sum = 0;  // of (priority + 2^31), so that more victims never cost less
  std::size_t count = 0;
  std::int64_t earliest_start = 0;  // among those of the highest priority; later is better

  bool operator<(const Price& other) const {
    if (highest_priority != other.highest_priority) return highest_priority < other.highest_priority;
    if (sum != other.sum) return sum < other.sum;
    if (count != other.count) return count < other.count;
    return earliest_start > other.earliest_start;
  }
};

Price price_of(const Model& model, const std::vector<TaskId>& victims) {
  Price out;
  out.highest_priority = model.task(victims.front()).pod_priority;
  out.count = victims.size();
  std::int32_t highest = std::numeric_limits<std::int32_t>::min();
  for (const TaskId id : victims) highest = std::max(highest, model.task(id).pod_priority);
  out.earliest_start = std::numeric_limits<std::int64_t>::max();
  for (const TaskId id : victims) {
    const Task& task = model.task(id);
    out.sum += std::int64_t{task.pod_priority} + (std::int64_t{1} << 31);
    if (task.pod_priority == highest) out.earliest_start = std::min(out.earliest_start, model.details.started_ns(id));
  }
  return out;
}

}  // namespace

DryRunSettings dry_run_settings(const Arguments& arguments) {
  DryRunSettings out;
  out.enabled = arguments.get_bool("enableTopologyAwarePreemption", false);
  arguments.get_int("topologyAwarePreemptWorkerNum", 16);  // one thread decides; the number changes nothing
  out.candidates_percent = arguments.get_int_from("minCandidateNodesPercentage", 0, out.candidates_percent);
  out.candidates_min = arguments.get_int_from("minCandidateNodesAbsolute", 0, out.candidates_min);
  out.candidates_max = arguments.get_int_from("maxCandidateNodesAbsolute", 0, out.candidates_max);
  return out;
}

// COMPAT(preempt-dry-run-start): Volcano starts at a random node.
std::optional<DryRunChoice> choose_by_dry_run(Session& session, const Task& task, const NodeSet& nodes,
                                              const DryRunSettings& settings, const EvictionRule& rule) {
  const auto count = static_cast<std::int64_t>(nodes.count());
  // A percentage beyond reason must not overflow.
  const std::int64_t percent = std::clamp<std::int64_t>(settings.candidates_percent, 0, 100);
  const std::int64_t wanted =
      std::min(count, std::max(settings.candidates_min, std::min(count * percent / 100, settings.candidates_max)));
  DryRun run(session, task, rule);
  std::optional<DryRunChoice> best;
  Price best_price;
  std::int64_t found = 0;
  std::vector<NodeId> order;
  nodes.for_each([&](std::uint32_t n) { order.push_back(NodeId{n}); });
  session.search().shard().own_first(order);
  for (const NodeId node : order) {
    if (found >= wanted) break;
    std::vector<TaskId> victims = run.victims_on(node);
    if (victims.empty()) continue;
    ++found;
    const Price price = price_of(session.model(), victims);
    if (best && !(price < best_price)) continue;
    best = DryRunChoice{node, std::move(victims)};
    best_price = price;
  }
  return best;
}

}  // namespace scheduler
