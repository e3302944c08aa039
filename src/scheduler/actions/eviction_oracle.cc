// Do small plans of evictions hold against every other one? For tests, where rollbacks are proved too.
#include "scheduler/actions/eviction_oracle.h"

#include <algorithm>

#include "base/format.h"

namespace scheduler {
namespace {

constexpr std::size_t kNodesMax = 8;
constexpr std::size_t kPodsMax = 8;    // of one node that may go
constexpr std::size_t kPlacesMax = 3;  // of one plan

using Saved = Journal::Saved;

bool fits(Session& session, const Task& task, NodeId node) {
  const Model& model = session.model();
  return fits_future(session.model(), task, node) &&
         session.ask<Allocatable>(model.queue(model.job(task.job).queue), task) &&
         session.search().fits_filters(task, node);
}

// Whether the places from position `at` on can all be found: of a single pod anywhere, of several as allocate would.
bool all_placed(Session& session, JobId job, const std::vector<Saved>& places, std::size_t at) {
  if (at == places.size()) return session.ask<JobPipelined>(session.model().job(job));
  const Task& task = session.model().task(places[at].task);
  if (session.ask<PrePredicate>(task)) return false;
  if (places.size() > 1) {
    FitErrors ignored;
    const NodeId planned = places[at].node;
    const auto other = session.search().find(task, nullptr, ignored);
    if (!fits(session, task, planned) && (!other || !fits(session, task, other->node))) return false;
    return session.journal().pipeline(task.id, fits(session, task, planned) ? planned : other->node, true) &&
           all_placed(session, job, places, at + 1);
  }
  bool found = false;
  const NodeSet nodes = session.search().candidates(task, Strictness::kPlace, session.model().nodes.known(), nullptr);
  nodes.for_each([&](std::uint32_t n) {
    if (found || !fits(session, task, NodeId{n})) return;
    const Journal::Mark mark = session.journal().mark();
    if (session.journal().pipeline(task.id, NodeId{n}, true)) found = all_placed(session, job, places, at + 1);
    session.journal().rollback(mark);
  });
  return found;
}

}  // namespace

void hold_against_all(Session& session, const EvictionCosts& costs, const EvictionRule& rule, const Task& task,
                      const NodeSet& within, Journal::Mark mark) {
  const Model& model = session.model();
  if (within.count() > kNodesMax || model.shards.mode != ShardingMode::kNone) return;
  const std::vector<Saved> chosen = session.journal().saved_since(mark);
  session.journal().rollback(mark);
  std::vector<TaskId> victims;
  for (const Saved& one : chosen) victims.push_back(one.task);
  const EvictionCost price = costs.of(victims);
  within.for_each([&](std::uint32_t n) {
    const std::vector<TaskId> may_go =
        units_that_may_go(model, task, candidates_on(session, rule, task, NodeId{n}), rule.displaceable, rule.may_go);
    if (may_go.size() > kPodsMax) return;
    for (std::uint32_t mask = 0; mask < std::uint32_t{1} << may_go.size(); ++mask) {
      std::vector<TaskId> set;
      for (std::size_t i = 0; i < may_go.size(); ++i) {
        if (mask >> i & 1) set.push_back(may_go[i]);
      }
      if (!(cost_with_all_gone(model, costs, set) < price)) continue;
      for (const TaskId id : with_all_gone(model, set)) session.journal().evict(id, rule.action, task.job);
      if (fits(session, task, NodeId{n}))
        session.evictions().record_bad_plan(
            base::format("cheaper evictions for {} on {}", model.task_key(task.id), model.nodes[NodeId{n}].name));
      session.journal().rollback(mark);
    }
  });
  session.journal().replay(chosen);
}

void hold_against_sparing(Session& session, JobId job, Journal::Mark mark) {
  const Model& model = session.model();
  if (model.nodes.known_count() > kNodesMax || model.job(job).has_topology_constraint() ||
      model.job(job).extras().domain_key.is_set())
    return;
  const std::vector<Saved> plan = session.journal().saved_since(mark);
  std::vector<Saved> places;
  for (const Saved& one : plan) {
    if (one.kind != Saved::Kind::kEvict) places.push_back(one);
  }
  if (places.size() > kPlacesMax || places.size() == plan.size()) return;
  session.journal().rollback(mark);
  std::vector<TaskId> evicted;
  for (const Saved& one : plan) {
    if (one.kind == Saved::Kind::kEvict) evicted.push_back(one.task);
  }
  for (const std::vector<TaskId>& spared : units_of(model, evicted)) {
    for (const Saved& one : plan) {
      const bool stays = std::find(spared.begin(), spared.end(), one.task) != spared.end();
      if (one.kind == Saved::Kind::kEvict && !stays) session.journal().replay({one});
    }
    if (all_placed(session, job, places, 0))
      session.evictions().record_bad_plan(
          base::format("{} could stay where others go for {}", model.task_key(spared.front()), model.job(job).key));
    session.journal().rollback(mark);
  }
  session.journal().replay(plan);
}

}  // namespace scheduler
