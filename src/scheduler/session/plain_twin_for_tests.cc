// The plain twin of the scheduler: it leaves nothing out and remembers nothing, and must decide the same.
#include "scheduler/session/plain_twin_for_tests.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "scheduler/actions/all.h"
#include "scheduler/actions/domain_bounds.h"
#include "scheduler/framework/action.h"
#include "scheduler/search/node_search.h"

namespace scheduler {
namespace {

class PlainSearch final : public NodeSearch {
 public:
  PlainSearch(Model& model, const PluginSet& plugins, NodeSampler& sampler)
      : NodeSearch(model, plugins, sampler, std::numeric_limits<std::uint32_t>::max()) {}

 private:
  std::optional<NodeChoice> look(const Task& task, const NodeSet* within, FitErrors& errors, Room wanted,
                                 SearchTiming&) override {
    const Filters filters = plugins_.ask<Predicate>(task);
    const Scorers scorers = plugins_.ask<NodeOrder>(task);
    NodeSet all = within != nullptr ? *within : model_.nodes.known();
    shard_.keep(all, nullptr);
    const auto [group, future] = nodes_for(task, filters, all);
    const std::uint32_t best = best_of(scorers, group, all.words().size() * 64);
    if (best != NodeId::kNone && !(wanted == Room::kNow && future)) return NodeChoice{NodeId{best}, future};
    explain(filters, model_.shape_of(task).request, within, errors, wanted);
    return std::nullopt;
  }

  // The nodes with room now, or else those with room later; and which of the two.
  std::pair<NodeSet, bool> nodes_for(const Task& task, const Filters& filters, const NodeSet& all) {
    NodeSet now = all, later = all;
    now.clear();
    later.clear();
    all.for_each([&](std::uint32_t n) {
      if (!fits_future(model_, task, NodeId{n})) return;
      if (!std::all_of(filters.begin(), filters.end(), [&](const auto& f) { return f->fits(n); })) return;
      later.add(n);
      if (fits_idle(model_, task, NodeId{n})) now.add(n);
    });
    sampler_.reduce(all, later);
    now &= later;
    NodeSet group = now.empty() ? later : now;
    if (model_.shards.mode == ShardingMode::kSoft) {
      NodeSet own = group;
      own &= shard_.own();
      if (!own.empty()) group = std::move(own);
    }
    return {std::move(group), now.empty()};
  }

  static std::uint32_t best_of(const Scorers& scorers, const NodeSet& group, std::size_t nodes) {
    std::uint32_t best = NodeId::kNone;
    double most = 0;
    std::vector<double> whole(nodes);
    std::vector<std::int64_t> low(scorers.size(), std::numeric_limits<std::int64_t>::max()),
        high(scorers.size(), std::numeric_limits<std::int64_t>::min());
    for (std::size_t i = 0; i < scorers.size(); ++i) {
      NodeScorer& scorer = *scorers[i];
      if (scorer.normalise() == NodeScorer::Normalise::kWhole) scorer.add_scores(group, whole);
      group.for_each([&](std::uint32_t n) {
        low[i] = std::min(low[i], scorer.raw(n));
        high[i] = std::max(high[i], scorer.raw(n));
      });
    }
    group.for_each([&](std::uint32_t n) {
      double total = whole[n];
      for (std::size_t i = 0; i < scorers.size(); ++i) {
        NodeScorer& scorer = *scorers[i];
        const auto rule = scorer.normalise();
        if (rule == NodeScorer::Normalise::kWhole) continue;
        total += scorer.weight() * (rule == NodeScorer::Normalise::kNone
                                        ? scorer.score(n)
                                        : static_cast<double>(normalised(rule, scorer.raw(n), low[i], high[i])));
      }
      if (best != NodeId::kNone && total <= most) return;
      best = n;
      most = total;
    });
    return best;
  }
};

std::unique_ptr<NodeSearch> make_plain_search(Model& model, const PluginSet& plugins, NodeSampler& sampler) {
  return std::make_unique<PlainSearch>(model, plugins, sampler);
}

class PlainEnqueue final : public Action {
 public:
  void run(Session& session) override { admit_by_order(session); }
};

// It knows nothing before a domain is tried.
class NoBounds final : public DomainBounds {
 public:
  double score(const Session&, JobId, const Worksheet&, DomainId) const override { return kNoBound; }
  std::optional<double> part_score(const Session&, const PlaceTarget&) const override { return std::nullopt; }
  bool may_hold(const Session&, JobId, const Worksheet&, DomainId) const override { return true; }
  bool may_hold(const Session&, const PlaceTarget&, const TaskHeap&) const override { return true; }
  bool may_hold(const Session&, JobId, const TaskHeap&, const NodeSet&) const override { return true; }
};

std::vector<ActionFactory> plain_actions() {
  std::vector<ActionFactory> out(all_actions().begin(), all_actions().end());
  for (ActionFactory& one : out) {
    if (one.name == "enqueue") one.make = [] { return std::unique_ptr<Action>(std::make_unique<PlainEnqueue>()); };
    if (one.name == "allocate") one.make = [] { return make_allocate_with(std::make_unique<NoBounds>()); };
  }
  return out;
}

}  // namespace

Registry plain_registry(Registry registry) {
  static const std::vector<ActionFactory> actions = plain_actions();
  if (registry.actions.data() == all_actions().data()) registry.actions = actions;
  return registry;
}

void begin_plain_cycle(Decider& decider) {
  decider.search_with(make_plain_search);
  decider.use(Config(decider.config()));
}

}  // namespace scheduler
