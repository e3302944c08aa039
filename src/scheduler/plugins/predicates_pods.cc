// Which nodes do other pods rule out? Inter-pod affinity and topology spread.
//
// Counts follow every placement of the same session, in both directions.
// DIFFERS(frozen-affinity-counts): docs/compat says why.
#include <algorithm>
#include <limits>
#include <map>

#include "scheduler/plugins/node_facts.h"
#include "scheduler/plugins/predicates.h"
#include "scheduler/plugins/predicates_volumes.h"

namespace scheduler {
namespace {

class PodAffinityFilter final : public ClusterFilter {
 public:
  PodAffinityFilter(const Model& model, const Task& task) : model_(model), shape_(model.shape_of(task)), labels_(task.labels) {}

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
  SpreadFilter(const Model& model, const Task& task) : model_(model), shape_(model.shape_of(task)), labels_(task.labels) {
    for (const SpreadConstraint& one : shape_.spread) {
      if (one.hard) hard_.push_back(&one);
    }
  }

  void apply(Sieve& sieve) override {
    NodeSet keyed = model_.nodes.known();
    for (const SpreadConstraint* one : hard_) keyed &= model_.nodes.nodes_with_key(one->topology_key);
    NodeSet passed = sieve.alive();
    for (const SpreadConstraint* one : hard_) {
      NodeSet lacking = passed;
      lacking.subtract(model_.nodes.nodes_with_key(one->topology_key));
      sieve.refuse(lacking, FitCode::kUnresolvable, "node(s) didn't match pod topology spread constraints (missing required label)");
      passed.subtract(lacking);
      NodeSet crowded = too_many(*one, keyed);
      crowded &= passed;
      sieve.refuse(crowded, FitCode::kUnschedulable, "node(s) didn't match pod topology spread constraints");
      passed.subtract(crowded);
    }
  }

 private:
  // Nodes of domains that would hold more than maxSkew above the emptiest domain.
  NodeSet too_many(const SpreadConstraint& one, const NodeSet& keyed) const {
    NodeSet eligible = keyed;
    if (one.honor_affinity) eligible &= nodes_matching_affinity(model_, shape_);
    if (one.honor_taints) eligible &= nodes_with_tolerated_taints(model_, shape_);
    std::map<Symbol, std::int64_t> counts;
    const Matcher& matcher = model_.pods.matcher(one.matcher);
    eligible.for_each([&](std::uint32_t n) { counts[value_of(model_.nodes[NodeId{n}].labels, one.topology_key)]; });
    for (const auto& entry : matcher.pods.entries()) {
      if (!eligible.has(entry.node)) continue;
      counts[value_of(model_.nodes[NodeId{entry.node}].labels, one.topology_key)] +=
          entry.count - matcher.terminating.get(entry.node);
    }
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (const auto& [value, count] : counts) least = std::min(least, count);
    if (counts.empty() || static_cast<std::int64_t>(counts.size()) < one.min_domains) least = 0;
    const std::int64_t own = model_.pods.matches(one.matcher, labels_) ? 1 : 0;
    NodeSet out = model_.nodes.known();
    out.clear();
    for (const auto& [value, count] : counts) {
      if (count + own - least > one.max_skew) out |= model_.nodes.nodes_with(one.topology_key, value);
    }
    if (own - least > one.max_skew) {
      NodeSet others = model_.nodes.nodes_with_key(one.topology_key);
      for (const auto& [value, count] : counts) others.subtract(model_.nodes.nodes_with(one.topology_key, value));
      out |= others;
    }
    return out;
  }

  const Model& model_;
  const Shape& shape_;
  const LabelSetId labels_;
  std::vector<const SpreadConstraint*> hard_;
};

}  // namespace

void add_pod_filters(const Model& model, const PredicateSwitches& on, const Task& task,
                     std::vector<std::unique_ptr<ClusterFilter>>& out) {
  const Shape& shape = model.shape_of(task);
  const auto selecting = model.pods.terms_selecting(task.labels);
  const bool refused = std::any_of(selecting.begin(), selecting.end(), [](const OwnedTerm* t) { return !t->required_apart.empty(); });
  if (on.pod_affinity && (!shape.affinity.empty() || !shape.anti_affinity.empty() || refused)) {
    out.push_back(std::make_unique<PodAffinityFilter>(model, task));
  }
  const bool spreads = std::any_of(shape.spread.begin(), shape.spread.end(), [](const SpreadConstraint& s) { return s.hard; });
  if (auto volumes = make_volume_filter(model, on, task)) out.push_back(std::move(volumes));
  if (on.topology_spread && spreads) out.push_back(std::make_unique<SpreadFilter>(model, task));
}

}  // namespace scheduler
