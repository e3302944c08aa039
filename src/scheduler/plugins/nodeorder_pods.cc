// Which nodes do other pods make more attractive? Preferred inter-pod affinity and soft topology spread.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "scheduler/plugins/node_facts.h"
#include "scheduler/plugins/nodeorder.h"

namespace scheduler {
namespace {

class PodAffinityScorer final : public NodeScorer {
 public:
  PodAffinityScorer(const Model& model, const Task& task, double weight)
      : model_(model), shape_(model.shape_of(task)), labels_(task.labels), weight_(weight) {}
  Reach reach() const override { return Reach::kCluster; }
  Normalise normalise() const override { return Normalise::kWhole; }

  void add_scores(const NodeSet& candidates, std::vector<double>& totals) override {
    points_.clear();
    for (const PodTerm& term : shape_.preferred_pods) {
      add_points(term.topology_key, model_.pods.matcher(term.matcher).pods, term.weight);
    }
    for (const OwnedTerm* term : model_.pods.terms_selecting(labels_)) add_points(term->topology_key, term->preferred, 1);
    if (points_.empty()) return;
    std::int64_t min = std::numeric_limits<std::int64_t>::max(), max = std::numeric_limits<std::int64_t>::min();
    std::vector<std::int64_t> raw(totals.size());
    candidates.for_each([&](std::uint32_t n) {
      for (const auto& [key, by_value] : points_) {
        const Symbol value = value_of(model_.nodes[NodeId{n}].labels, key);
        if (!value.is_set()) continue;
        if (auto found = by_value.find(value); found != by_value.end()) raw[n] += found->second;
      }
      min = std::min(min, raw[n]);
      max = std::max(max, raw[n]);
    });
    if (min == max) return;
    candidates.for_each([&](std::uint32_t n) {
      totals[n] += weight_ * std::trunc(100.0 * (static_cast<double>(raw[n] - min) / static_cast<double>(max - min)));
    });
  }

 private:
  void add_points(Symbol key, const NodeCounts& counts, std::int64_t weight) {
    for (const auto& entry : counts.entries()) {
      const Symbol value = value_of(model_.nodes[NodeId{entry.node}].labels, key);
      if (value.is_set()) points_[key][value] += entry.count * weight;
    }
  }

  const Model& model_;
  const Shape& shape_;
  const LabelSetId labels_;
  double weight_;
  std::map<Symbol, std::map<Symbol, std::int64_t>> points_;  // by topology key and value
};

class SpreadScorer final : public NodeScorer {
 public:
  SpreadScorer(const Model& model, const Task& task, double weight)
      : model_(model), shape_(model.shape_of(task)), weight_(weight) {
    for (const SpreadConstraint& one : shape_.spread) {
      if (!one.hard) soft_.push_back(&one);
    }
  }
  Reach reach() const override { return Reach::kCluster; }
  Normalise normalise() const override { return Normalise::kWhole; }

  void add_scores(const NodeSet& candidates, std::vector<double>& totals) override {
    NodeSet keyed = candidates;
    for (const SpreadConstraint* one : soft_) keyed &= model_.nodes.nodes_with_key(one->topology_key);
    std::vector<double> sums(totals.size());
    for (const SpreadConstraint* one : soft_) add_counts(*one, keyed, sums);
    std::vector<std::int64_t> raw(totals.size());
    std::int64_t min = std::numeric_limits<std::int64_t>::max(), max = 0;
    keyed.for_each([&](std::uint32_t n) {
      raw[n] = std::llround(sums[n]);
      min = std::min(min, raw[n]);
      max = std::max(max, raw[n]);
    });
    keyed.for_each([&](std::uint32_t n) {
      totals[n] += weight_ * static_cast<double>(max == 0 ? 100 : 100 * (max + min - raw[n]) / max);
    });
  }

 private:
  void add_counts(const SpreadConstraint& one, const NodeSet& keyed, std::vector<double>& sums) const {
    std::map<Symbol, std::int64_t> counts;
    const Matcher& matcher = model_.pods.matcher(one.matcher);
    keyed.for_each([&](std::uint32_t n) { counts[value_of(model_.nodes[NodeId{n}].labels, one.topology_key)]; });
    const double importance = std::log(static_cast<double>(counts.size() + 2));
    NodeSet eligible = model_.nodes.nodes_with_key(one.topology_key);
    if (one.honor_affinity) eligible &= nodes_matching_affinity(model_, shape_);
    if (one.honor_taints) eligible &= nodes_with_tolerated_taints(model_, shape_);
    for (const auto& entry : matcher.pods.entries()) {
      if (!eligible.has(entry.node)) continue;
      auto found = counts.find(value_of(model_.nodes[NodeId{entry.node}].labels, one.topology_key));
      if (found != counts.end()) found->second += entry.count - matcher.terminating.get(entry.node);
    }
    keyed.for_each([&](std::uint32_t n) {
      const std::int64_t count = counts[value_of(model_.nodes[NodeId{n}].labels, one.topology_key)];
      sums[n] += static_cast<double>(count) * importance + static_cast<double>(one.max_skew - 1);
    });
  }

  const Model& model_;
  const Shape& shape_;
  double weight_;
  std::vector<const SpreadConstraint*> soft_;
};

}  // namespace

std::unique_ptr<NodeScorer> make_pod_affinity_scorer(const Model& model, const Task& task, double weight) {
  const auto selecting = model.pods.terms_selecting(task.labels);
  const bool attracted = std::any_of(selecting.begin(), selecting.end(), [](const OwnedTerm* t) { return !t->preferred.empty(); });
  if (weight == 0 || (model.shape_of(task).preferred_pods.empty() && !attracted)) return nullptr;
  return std::make_unique<PodAffinityScorer>(model, task, weight);
}

std::unique_ptr<NodeScorer> make_spread_scorer(const Model& model, const Task& task, double weight) {
  const auto& spread = model.shape_of(task).spread;
  const bool soft = std::any_of(spread.begin(), spread.end(), [](const SpreadConstraint& one) { return !one.hard; });
  if (weight == 0 || !soft) return nullptr;
  return std::make_unique<SpreadScorer>(model, task, weight);
}

}  // namespace scheduler
