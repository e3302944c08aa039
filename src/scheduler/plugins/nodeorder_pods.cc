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
    for (const OwnedTerm* term : model_.pods.terms_selecting(labels_))
      add_points(term->topology_key, term->preferred, 1);
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

constexpr std::string_view kHostname = "kubernetes.io/hostname";
constexpr std::string_view kZone = "topology.kubernetes.io/zone";

class SpreadScorer final : public NodeScorer {
 public:
  // `defaults`: selects the pods that are spread by default; unset: the pod's own constraints count.
  SpreadScorer(Model& model, DomainCache& cache, const Task& task, double weight, MatcherId defaults)
      : model_(model), shape_(model.shape_of(task)), weight_(weight), scored_(model.nodes.known()) {
    if (defaults.is_set()) {
      // A node without one of the labels is still scored by the other.
      add({.matcher = defaults, .topology_key = model.symbols.intern(kHostname), .max_skew = 3, .hard = false}, cache);
      add({.matcher = defaults, .topology_key = model.symbols.intern(kZone), .max_skew = 5, .hard = false}, cache);
      return;
    }
    for (const SpreadConstraint& one : shape_.spread) {
      if (one.hard) continue;
      add(one, cache);
      scored_ &= model.nodes.nodes_with_key(one.topology_key);
    }
  }
  Reach reach() const override { return Reach::kCluster; }
  Normalise normalise() const override { return Normalise::kWhole; }

  void add_scores(const NodeSet& candidates, std::vector<double>& totals) override {
    NodeSet scored = candidates;
    scored &= scored_;
    std::vector<double> sums(totals.size());
    for (const Soft& one : soft_) {
      if (one.is_hostname)
        add_node_counts(one, scored, sums);
      else
        add_domain_counts(one, scored, sums);
    }
    std::int64_t min = std::numeric_limits<std::int64_t>::max(), max = 0;
    scored.for_each([&](std::uint32_t n) {
      const std::int64_t raw = std::llround(sums[n]);
      min = std::min(min, raw);
      max = std::max(max, raw);
    });
    scored.for_each([&](std::uint32_t n) {
      totals[n] += weight_ * static_cast<double>(max == 0 ? 100 : 100 * (max + min - std::llround(sums[n])) / max);
    });
  }

 private:
  struct Soft {
    MatcherId matcher;
    double base = 0;  // maxSkew - 1
    bool is_hostname = false;
    NodeSet keyed;
    std::shared_ptr<const DomainColumn> domains;
    NodeSet eligible;  // nodes whose pods are counted
  };

  void add(const SpreadConstraint& one, DomainCache& cache) {
    Soft soft{.matcher = one.matcher,
              .base = static_cast<double>(one.max_skew - 1),
              .is_hostname = model_.symbols.text(one.topology_key) == kHostname,
              .keyed = model_.nodes.nodes_with_key(one.topology_key),
              .domains = cache.get(model_, one.topology_key),
              .eligible = {}};
    soft.keyed &= model_.nodes.known();
    soft.eligible = soft.keyed;
    if (one.honor_affinity) soft.eligible &= nodes_matching_affinity(model_, shape_);
    if (one.honor_taints) soft.eligible &= nodes_with_tolerated_taints(model_, shape_);
    soft_.push_back(std::move(soft));
  }

  std::int64_t pods_on(const Soft& one, std::uint32_t node) const {
    const Matcher& matcher = model_.pods.matcher(one.matcher);
    return matcher.pods.get(node) - matcher.terminating.get(node);
  }

  // Every node is its own domain: its pods count whatever the inclusion policies say.
  void add_node_counts(const Soft& one, const NodeSet& scored, std::vector<double>& sums) const {
    const double importance = std::log(static_cast<double>(scored.count() + 2));
    scored.for_each([&](std::uint32_t n) {
      if (one.keyed.has(n)) sums[n] += static_cast<double>(pods_on(one, n)) * importance + one.base;
    });
  }

  void add_domain_counts(const Soft& one, const NodeSet& scored, std::vector<double>& sums) const {
    std::vector<std::int64_t> counts(one.domains->size(), -1);  // -1: no candidate is in the domain
    std::size_t domains = 0;
    scored.for_each([&](std::uint32_t n) {
      if (!one.keyed.has(n)) return;
      std::int64_t& count = counts[one.domains->of_node[n]];
      domains += count < 0 ? 1 : 0;
      count = 0;
    });
    const double importance = std::log(static_cast<double>(domains + 2));
    for (const auto& entry : model_.pods.matcher(one.matcher).pods.entries()) {
      if (!one.eligible.has(entry.node)) continue;
      std::int64_t& count = counts[one.domains->of_node[entry.node]];
      if (count >= 0) count += pods_on(one, entry.node);
    }
    scored.for_each([&](std::uint32_t n) {
      if (one.keyed.has(n)) sums[n] += static_cast<double>(counts[one.domains->of_node[n]]) * importance + one.base;
    });
  }

  Model& model_;
  const Shape& shape_;
  double weight_;
  NodeSet scored_;
  std::vector<Soft> soft_;
};

}  // namespace

std::unique_ptr<NodeScorer> make_pod_affinity_scorer(const Model& model, DomainCache& domains, const Task& task,
                                                     double weight) {
  const auto selecting = model.pods.terms_selecting(task.labels);
  const bool attracted =
      std::any_of(selecting.begin(), selecting.end(), [](const OwnedTerm* t) { return !t->preferred.empty(); });
  if (weight == 0 || (model.shape_of(task).preferred_pods.empty() && !attracted)) return nullptr;
  return std::make_unique<PodAffinityScorer>(model, domains, task, weight);
}

MatcherId default_spread_of(Model& model, const Task& task) {
  if (model.workloads.empty() || !model.shape_of(task).spread.empty()) return {};
  const MatcherId out = model.workloads.default_matcher(task.id, task.labels, model.pods, model.symbols);
  model.settle_matchers();
  return out;
}

std::unique_ptr<NodeScorer> make_spread_scorer(Model& model, DomainCache& domains, const Task& task, double weight) {
  const auto& spread = model.shape_of(task).spread;
  const bool soft = std::any_of(spread.begin(), spread.end(), [](const SpreadConstraint& one) { return !one.hard; });
  if (weight == 0) return nullptr;
  const MatcherId defaults = default_spread_of(model, task);
  if (!soft && !defaults.is_set()) return nullptr;
  return std::make_unique<SpreadScorer>(model, domains, task, weight, defaults);
}

}  // namespace scheduler
