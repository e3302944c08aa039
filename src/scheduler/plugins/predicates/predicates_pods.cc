// Which nodes do other pods rule out? Inter-pod affinity and topology spread.
//
// Counts follow every placement of the same session, in both directions.
// DIFFERS(frozen-affinity-counts): docs/compat says why.
#include <algorithm>
#include <limits>
#include <map>
#include <optional>

#include "scheduler/plugins/predicates/node_facts.h"
#include "scheduler/plugins/predicates/predicates.h"
#include "scheduler/plugins/predicates/predicates_volumes.h"

namespace scheduler {
namespace {

class PodAffinityFilter final : public ClusterFilter {
 public:
  PodAffinityFilter(const Model& model, const Task& task)
      : model_(model), shape_(model.shape_of(task)), labels_(task.labels) {}

  void apply(Sieve& sieve) override {
    if (!shape_.affinity.empty()) {
      sieve.keep(nodes_with_company(), FitCode::kUnresolvable, "node(s) didn't match pod affinity rules");
    }
    NodeSet apart = model_.nodes.known();
    apart.clear();
    for (const PodTerm& term : shape_.anti_affinity) apart |= crowd(term.matcher, term.topology_key);
    // The first failure of a node is the one told: what follows sees only nodes that passed so far.
    NodeSet passed = sieve.alive();
    passed.subtract(apart);
    NodeSet hit = sieve.alive();
    hit &= apart;
    sieve.refuse(hit, FitCode::kUnschedulable, "node(s) didn't match pod anti-affinity rules");
    NodeSet refused = refused_by_others();
    refused &= passed;
    sieve.refuse(refused, FitCode::kUnschedulable, "node(s) didn't satisfy existing pods anti-affinity rules");
  }

 private:
  NodeSet crowd(MatcherId matcher, Symbol key) const {
    DomainBuilder domains(model_, key);
    for (const auto& entry : model_.pods.matcher(matcher).pods.entries()) domains.add_domain_of(entry.node);
    return domains.members();
  }

  NodeSet nodes_with_company() const {
    NodeSet together = model_.nodes.known(), keyed = model_.nodes.known();
    bool any = false;
    for (const PodTerm& term : shape_.affinity) {
      const NodeSet domain = crowd(term.matcher, term.topology_key);
      any |= !domain.empty();
      together &= domain;
      keyed &= model_.nodes.nodes_with_key(term.topology_key);
    }
    // The first pod of a series that wants its own kind may start it anywhere.
    const bool starts_series = !any && model_.pods.matches(shape_.affinity.front().matcher, labels_);
    return starts_series ? keyed : together;
  }

  NodeSet refused_by_others() const {
    NodeSet out = model_.nodes.known();
    out.clear();
    for (const OwnedTerm* term : model_.pods.terms_selecting(labels_)) {
      if (term->required_apart.empty()) continue;
      DomainBuilder domains(model_, term->topology_key);
      for (const auto& entry : term->required_apart.entries()) domains.add_domain_of(entry.node);
      out |= domains.members();
    }
    return out;
  }

  const Model& model_;
  const Shape& shape_;
  const LabelSetId labels_;
};

class SpreadFilter final : public ClusterFilter {
 public:
  SpreadFilter(const Model& model, DomainCache& cache, const Task& task)
      : model_(model), shape_(model.shape_of(task)), labels_(task.labels), keyed_(model.nodes.known()) {
    for (const SpreadConstraint& one : shape_.spread) {
      if (!one.hard) continue;
      hard_.push_back({&one, cache.get(model, one.topology_key), {}, 0});
      keyed_ &= model.nodes.nodes_with_key(one.topology_key);
    }
    for (Hard& one : hard_) find_eligible(one);
  }

  void apply(Sieve& sieve) override {
    NodeSet passed = sieve.alive();
    for (const Hard& one : hard_) {
      NodeSet lacking = passed;
      lacking.subtract(model_.nodes.nodes_with_key(one.constraint->topology_key));
      sieve.refuse(lacking, FitCode::kUnresolvable,
                   "node(s) didn't match pod topology spread constraints (missing required label)");
      passed.subtract(lacking);
      NodeSet crowded = too_many(one);
      crowded &= passed;
      sieve.refuse(crowded, FitCode::kUnschedulable, "node(s) didn't match pod topology spread constraints");
      passed.subtract(crowded);
    }
  }

 private:
  struct Hard {
    const SpreadConstraint* constraint;
    std::shared_ptr<const DomainColumn> domains;
    NodeSet eligible;  // nodes whose pods are counted
    std::size_t eligible_domains;
  };

  void find_eligible(Hard& one) {
    one.eligible = keyed_;
    if (one.constraint->honor_affinity) {
      if (!by_affinity_) by_affinity_ = nodes_matching_affinity(model_, shape_);
      one.eligible &= *by_affinity_;
    }
    if (one.constraint->honor_taints) {
      if (!by_taints_) by_taints_ = nodes_with_tolerated_taints(model_, shape_);
      one.eligible &= *by_taints_;
    }
    std::vector<bool> counted(one.domains->size());
    one.eligible.for_each([&](std::uint32_t n) { counted[one.domains->of_node[n]] = true; });
    one.eligible_domains = static_cast<std::size_t>(std::count(counted.begin(), counted.end(), true));
  }

  // Nodes of domains that would hold more than maxSkew above the emptiest domain.
  NodeSet too_many(const Hard& one) const {
    std::map<std::uint32_t, std::int64_t> counts;  // domains with pods
    const Matcher& matcher = model_.pods.matcher(one.constraint->matcher);
    for (const auto& entry : matcher.pods.entries()) {
      if (one.eligible.has(entry.node))
        counts[one.domains->of_node[entry.node]] += entry.count - matcher.terminating.get(entry.node);
    }
    std::int64_t least = counts.size() < one.eligible_domains ? 0 : std::numeric_limits<std::int64_t>::max();
    for (const auto& [domain, count] : counts) least = std::min(least, count);
    if (one.eligible_domains == 0 || static_cast<std::int64_t>(one.eligible_domains) < one.constraint->min_domains)
      least = 0;
    const std::int64_t own = model_.pods.matches(one.constraint->matcher, labels_) ? 1 : 0;
    const std::int64_t most = one.constraint->max_skew + least - own;  // pods a domain may hold already
    NodeSet out = model_.nodes.known();
    out.clear();
    if (most < 0) out |= model_.nodes.nodes_with_key(one.constraint->topology_key);
    for (const auto& [domain, count] : counts) {
      if (count > most) out |= model_.nodes.nodes_with(one.constraint->topology_key, one.domains->values[domain]);
    }
    return out;
  }

  const Model& model_;
  const Shape& shape_;
  const LabelSetId labels_;
  NodeSet keyed_;
  std::optional<NodeSet> by_affinity_, by_taints_;  // the same for all constraints
  std::vector<Hard> hard_;
};

}  // namespace

void add_pod_filters(const Model& model, DomainCache& domains, const PredicateSwitches& on, const Task& task,
                     std::vector<std::unique_ptr<ClusterFilter>>& out) {
  const Shape& shape = model.shape_of(task);
  const auto selecting = model.pods.terms_selecting(task.labels);
  const bool refused =
      std::any_of(selecting.begin(), selecting.end(), [](const OwnedTerm* t) { return !t->required_apart.empty(); });
  if (on.pod_affinity && (!shape.affinity.empty() || !shape.anti_affinity.empty() || refused)) {
    out.push_back(std::make_unique<PodAffinityFilter>(model, task));
  }
  const bool spreads =
      std::any_of(shape.spread.begin(), shape.spread.end(), [](const SpreadConstraint& s) { return s.hard; });
  const auto add = [&](bool wanted, auto make) {
    if (!wanted) return;
    if (auto filter = make(model, task)) out.push_back(std::move(filter));
  };
  add(on.volume_limits, make_limit_filter);
  add(on.volume_zone, make_zone_filter);
  if (on.topology_spread && spreads) out.push_back(std::make_unique<SpreadFilter>(model, domains, task));
  add(on.volume_binding, make_once_pod_filter);
  add(on.volume_binding, make_binding_filter);
}

}  // namespace scheduler
