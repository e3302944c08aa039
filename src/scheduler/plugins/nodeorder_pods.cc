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
  PodAffinityScorer(const Model& model, DomainCache& cache, const Task& task, double weight)
      : model_(model), cache_(cache), shape_(model.shape_of(task)), labels_(task.labels), weight_(weight) {}
  Reach reach() const override { return Reach::kCluster; }
  Normalise normalise() const override { return Normalise::kWhole; }

  void add_scores(const NodeSet& candidates, std::vector<double>& totals) override {
    points_.clear();
    for (const PodTerm& term : shape_.preferred_pods) {
      add_points(term.topology_key, model_.pods.matcher(term.matcher).pods, term.weight);
    }
    for (const OwnedTerm* term : model_.pods.terms_selecting(labels_)) add_points(term->topology_key, term->preferred, 1);
    if (points_.empty()) return;
    std::vector<std::int64_t> raw(totals.size());
    for (const Points& one : points_) {
      candidates.for_each([&](std::uint32_t n) {
        const std::uint32_t domain = one.domains->of_node[n];
        if (domain != DomainColumn::kNone) raw[n] += one.by_domain[domain];
      });
    }
    std::int64_t min = std::numeric_limits<std::int64_t>::max(), max = std::numeric_limits<std::int64_t>::min();
    candidates.for_each([&](std::uint32_t n) {
      min = std::min(min, raw[n]);
      max = std::max(max, raw[n]);
    });
    if (min == max) return;
    candidates.for_each([&](std::uint32_t n) {
      totals[n] += weight_ * std::trunc(100.0 * (static_cast<double>(raw[n] - min) / static_cast<double>(max - min)));
    });
  }

 private:
  struct Points {
    Symbol key;
    std::shared_ptr<const DomainColumn> domains;
    std::vector<std::int64_t> by_domain;
  };

  void add_points(Symbol key, const NodeCounts& counts, std::int64_t weight) {
    if (counts.empty()) return;
    auto slot = std::find_if(points_.begin(), points_.end(), [&](const Points& p) { return p.key == key; });
    if (slot == points_.end()) {
      auto domains = cache_.get(model_, key);
      const std::size_t size = domains->size();
      slot = points_.insert(points_.end(), {key, std::move(domains), std::vector<std::int64_t>(size)});
    }
    for (const auto& entry : counts.entries()) {
      const std::uint32_t domain = slot->domains->of_node[entry.node];
      if (domain != DomainColumn::kNone) slot->by_domain[domain] += entry.count * weight;
    }
  }

  const Model& model_;
  DomainCache& cache_;
  const Shape& shape_;
  const LabelSetId labels_;
  double weight_;
  std::vector<Points> points_;
};

class SpreadScorer final : public NodeScorer {
 public:
  SpreadScorer(const Model& model, DomainCache& cache, const Task& task, double weight)
      : model_(model), shape_(model.shape_of(task)), weight_(weight), keyed_(model.nodes.known()) {
    for (const SpreadConstraint& one : shape_.spread) {
      if (one.hard) continue;
      NodeSet eligible = model.nodes.nodes_with_key(one.topology_key);
      if (one.honor_affinity) eligible &= nodes_matching_affinity(model, shape_);
      if (one.honor_taints) eligible &= nodes_with_tolerated_taints(model, shape_);
      soft_.push_back({&one, cache.get(model, one.topology_key), std::move(eligible)});
      keyed_ &= model.nodes.nodes_with_key(one.topology_key);
    }
  }
  Reach reach() const override { return Reach::kCluster; }
  Normalise normalise() const override { return Normalise::kWhole; }

  void add_scores(const NodeSet& candidates, std::vector<double>& totals) override {
    NodeSet keyed = candidates;
    keyed &= keyed_;
    std::vector<double> sums(totals.size());
    for (const Soft& one : soft_) add_counts(one, keyed, sums);
    std::int64_t min = std::numeric_limits<std::int64_t>::max(), max = 0;
    keyed.for_each([&](std::uint32_t n) {
      const std::int64_t raw = std::llround(sums[n]);
      min = std::min(min, raw);
      max = std::max(max, raw);
    });
    keyed.for_each([&](std::uint32_t n) {
      totals[n] += weight_ * static_cast<double>(max == 0 ? 100 : 100 * (max + min - std::llround(sums[n])) / max);
    });
  }

 private:
  struct Soft {
    const SpreadConstraint* constraint;
    std::shared_ptr<const DomainColumn> domains;
    NodeSet eligible;  // nodes whose pods are counted
  };

  void add_counts(const Soft& one, const NodeSet& keyed, std::vector<double>& sums) const {
    std::vector<std::int64_t> counts(one.domains->size(), -1);  // -1: no candidate is in the domain
    std::size_t domains = 0;
    keyed.for_each([&](std::uint32_t n) {
      std::int64_t& count = counts[one.domains->of_node[n]];
      domains += count < 0 ? 1 : 0;
      count = 0;
    });
    const double importance = std::log(static_cast<double>(domains + 2));
    const Matcher& matcher = model_.pods.matcher(one.constraint->matcher);
    for (const auto& entry : matcher.pods.entries()) {
      if (!one.eligible.has(entry.node)) continue;
      std::int64_t& count = counts[one.domains->of_node[entry.node]];
      if (count >= 0) count += entry.count - matcher.terminating.get(entry.node);
    }
    const auto base = static_cast<double>(one.constraint->max_skew - 1);
    keyed.for_each([&](std::uint32_t n) {
      sums[n] += static_cast<double>(counts[one.domains->of_node[n]]) * importance + base;
    });
  }

  const Model& model_;
  const Shape& shape_;
  double weight_;
  NodeSet keyed_;
  std::vector<Soft> soft_;
};

}  // namespace

std::unique_ptr<NodeScorer> make_pod_affinity_scorer(const Model& model, DomainCache& domains, const Task& task, double weight) {
  const auto selecting = model.pods.terms_selecting(task.labels);
  const bool attracted = std::any_of(selecting.begin(), selecting.end(), [](const OwnedTerm* t) { return !t->preferred.empty(); });
  if (weight == 0 || (model.shape_of(task).preferred_pods.empty() && !attracted)) return nullptr;
  return std::make_unique<PodAffinityScorer>(model, domains, task, weight);
}

std::unique_ptr<NodeScorer> make_spread_scorer(const Model& model, DomainCache& domains, const Task& task, double weight) {
  const auto& spread = model.shape_of(task).spread;
  const bool soft = std::any_of(spread.begin(), spread.end(), [](const SpreadConstraint& one) { return !one.hard; });
  if (weight == 0 || !soft) return nullptr;
  return std::make_unique<SpreadScorer>(model, domains, task, weight);
}

}  // namespace scheduler
