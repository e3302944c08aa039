// Which nodes do other pods make more attractive? Preferred inter-pod affinity and soft topology spread.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "scheduler/plugins/nodeorder/nodeorder.h"
#include "scheduler/plugins/predicates/node_facts.h"

namespace scheduler {
namespace {

// Which domains hold candidates, and whether some candidate lies in none.
struct DomainUse {
  std::vector<std::uint8_t> has;  // by domain
  std::size_t count = 0;
  bool has_none = false;
};
DomainUse domains_in_use(const DomainColumn& domains, const NodeSet& candidates) {
  DomainUse out{std::vector<std::uint8_t>(domains.size() + 1), 0, false};
  std::uint8_t* has = out.has.data();
  const std::uint32_t* of_node = domains.of_node.data();
  const auto none = static_cast<std::uint32_t>(domains.size());
  candidates.for_each([&](std::uint32_t n) { has[std::min(of_node[n], none)] = 1; });
  out.has_none = has[none] != 0;
  out.count = static_cast<std::size_t>(std::count(out.has.begin(), out.has.end() - 1, 1));
  return out;
}

// To every node of a domain the domain's score; of nodes that are not candidates nobody reads the total.
void add_domain_scores(const DomainColumn& domains, std::vector<double>& scores, double without,
                       std::vector<double>& totals) {
  const auto none = static_cast<std::uint32_t>(scores.size());
  scores.push_back(without);
  const double* score = scores.data();
  const std::uint32_t* of_node = domains.of_node.data();
  double* total = totals.data();
  const std::size_t rows = std::min(totals.size(), domains.of_node.size());
  for (std::size_t n = 0; n < rows; ++n) total[n] += score[std::min(of_node[n], none)];
}

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
    if (points_.size() == 1) return add_by_domain(points_[0], candidates, totals);
    raw_.assign(totals.size(), 0);
    for (const Points& one : points_) {
      candidates.for_each([&](std::uint32_t n) {
        const std::uint32_t domain = one.domains->of_node[n];
        if (domain != DomainColumn::kNone) raw_[n] += one.by_domain[domain];
      });
    }
    std::int64_t min = std::numeric_limits<std::int64_t>::max(), max = std::numeric_limits<std::int64_t>::min();
    candidates.for_each([&](std::uint32_t n) {
      min = std::min(min, raw_[n]);
      max = std::max(max, raw_[n]);
    });
    if (min == max) return;
    candidates.for_each([&](std::uint32_t n) { totals[n] += points_of(raw_[n], min, max); });
  }

 private:
  struct Points {
    Symbol key;
    std::shared_ptr<const DomainColumn> domains;
    std::vector<std::int64_t> by_domain;
  };

  double points_of(std::int64_t raw, std::int64_t min, std::int64_t max) const {
    return weight_ * std::trunc(100.0 * (static_cast<double>(raw - min) / static_cast<double>(max - min)));
  }

  // All nodes of a domain score the same, those without the key zero points before the scale.
  void add_by_domain(const Points& one, const NodeSet& candidates, std::vector<double>& totals) const {
    const DomainUse use = domains_in_use(*one.domains, candidates);
    std::int64_t min = std::numeric_limits<std::int64_t>::max(), max = std::numeric_limits<std::int64_t>::min();
    const auto see = [&](std::int64_t raw) {
      min = std::min(min, raw);
      max = std::max(max, raw);
    };
    for (std::size_t d = 0; d < one.by_domain.size(); ++d) {
      if (use.has[d]) see(one.by_domain[d]);
    }
    if (use.has_none) see(0);
    if (min >= max) return;
    std::vector<double> scores;
    for (const std::int64_t raw : one.by_domain) scores.push_back(points_of(raw, min, max));
    add_domain_scores(*one.domains, scores, points_of(0, min, max), totals);
  }

  void add_points(Symbol key, const NodeCounts& counts, std::int64_t weight) {
    if (counts.empty()) return;
    auto slot = std::find_if(points_.begin(), points_.end(), [&](const Points& p) { return p.key == key; });
    if (slot == points_.end()) {
      auto domains = cache_.get(model_, key);
      const std::size_t size = domains->size();
      slot = points_.insert(points_.end(), {key, std::move(domains), std::vector<std::int64_t>(size)});
    }
    for (const auto& entry : counts.entries()) {
      // Pods may name nodes that are not there, which lie in no domain, nor have rows of their own in the column.
      if (entry.node >= slot->domains->of_node.size()) continue;
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
  std::vector<std::int64_t> raw_;  // scratch
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
    // Pods count only on nodes that have all the keys.
    for (Soft& one : soft_) one.eligible &= scored_;
  }
  Reach reach() const override { return Reach::kCluster; }
  Normalise normalise() const override { return Normalise::kWhole; }

  void add_scores(const NodeSet& candidates, std::vector<double>& totals) override {
    NodeSet scored = candidates;
    scored &= scored_;
    if (soft_.size() == 1 && !soft_[0].is_hostname) return add_by_domain(soft_[0], scored, totals);
    sums_.assign(totals.size(), 0);
    for (const Soft& one : soft_) {
      if (one.is_hostname)
        add_node_counts(one, scored, sums_);
      else
        add_domain_counts(one, scored, sums_);
    }
    std::int64_t min = std::numeric_limits<std::int64_t>::max(), max = 0;
    scored.for_each([&](std::uint32_t n) {
      const std::int64_t raw = rounded(sums_[n]);
      min = std::min(min, raw);
      max = std::max(max, raw);
    });
    scored.for_each([&](std::uint32_t n) { totals[n] += points_of(rounded(sums_[n]), min, max); });
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

  // llround() of a sum, none of which is negative, without the call.
  static std::int64_t rounded(double sum) {
    const auto whole = static_cast<std::int64_t>(sum);
    return sum - static_cast<double>(whole) >= 0.5 ? whole + 1 : whole;
  }
  double points_of(std::int64_t raw, std::int64_t min, std::int64_t max) const {
    return weight_ * static_cast<double>(max == 0 ? 100 : 100 * (max + min - raw) / max);
  }

  // One key: every scored node has it, and all nodes of a domain score the same.
  void add_by_domain(const Soft& one, const NodeSet& scored, std::vector<double>& totals) const {
    const DomainUse use = domains_in_use(*one.domains, scored);
    if (use.count == 0) return;
    const std::vector<std::int64_t> counts = counts_by_domain(one, use);
    const double importance = std::log(static_cast<double>(use.count + 2));
    std::int64_t min = std::numeric_limits<std::int64_t>::max(), max = 0;
    std::vector<std::int64_t> raw(counts.size());
    for (std::size_t d = 0; d < counts.size(); ++d) {
      if (!use.has[d]) continue;
      raw[d] = rounded(static_cast<double>(counts[d]) * importance + one.base);
      min = std::min(min, raw[d]);
      max = std::max(max, raw[d]);
    }
    std::vector<double> scores(counts.size());
    for (std::size_t d = 0; d < counts.size(); ++d) {
      if (use.has[d]) scores[d] = points_of(raw[d], min, max);
    }
    // A candidate without the key is not scored.
    add_domain_scores(*one.domains, scores, 0, totals);
  }

  // Pods in each domain that holds a scored node.
  std::vector<std::int64_t> counts_by_domain(const Soft& one, const DomainUse& use) const {
    std::vector<std::int64_t> counts(one.domains->size());
    const Matcher& matcher = model_.pods.matcher(one.matcher);
    const bool some_go = !matcher.terminating.empty();
    for (const auto& entry : matcher.pods.entries()) {
      if (!one.eligible.has(entry.node)) continue;
      const std::uint32_t domain = one.domains->of_node[entry.node];
      if (use.has[domain]) counts[domain] += entry.count - (some_go ? matcher.terminating.get(entry.node) : 0);
    }
    return counts;
  }

  void add(const SpreadConstraint& one, DomainCache& cache) {
    Soft soft{.matcher = one.matcher,
              .base = static_cast<double>(one.max_skew - 1),
              .is_hostname = model_.symbols.text(one.topology_key) == kHostname,
              .keyed = model_.nodes.nodes_with_key(one.topology_key),
              .domains = cache.get(model_, one.topology_key),
              .eligible = {}};
    soft.keyed &= model_.nodes.known();
    soft.eligible = soft.keyed;
    if (one.honor_affinity) {
      if (!by_affinity_) by_affinity_ = nodes_matching_affinity(model_, shape_);
      soft.eligible &= *by_affinity_;
    }
    if (one.honor_taints) {
      if (!by_taints_) by_taints_ = nodes_with_tolerated_taints(model_, shape_);
      soft.eligible &= *by_taints_;
    }
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
    NodeSet keyed = scored;
    keyed &= one.keyed;
    const DomainUse use = domains_in_use(*one.domains, scored);
    const std::vector<std::int64_t> counts = counts_by_domain(one, use);
    // Nodes without the key (which only the default constraints score) count as one more domain.
    const double importance = std::log(static_cast<double>(use.count + (use.has_none ? 1 : 0) + 2));
    keyed.for_each([&](std::uint32_t n) {
      sums[n] += static_cast<double>(counts[one.domains->of_node[n]]) * importance + one.base;
    });
  }

  Model& model_;
  const Shape& shape_;
  double weight_;
  NodeSet scored_;
  std::optional<NodeSet> by_affinity_, by_taints_;  // the same for all constraints
  std::vector<Soft> soft_;
  std::vector<double> sums_;  // scratch
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
