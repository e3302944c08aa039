// How do resource claims take part in filtering, scoring and placing?
#include "scheduler/plugins/predicates/predicates_dra.h"

#include <algorithm>

#include "base/format.h"
#include "scheduler/model/devices/dra_allocator.h"
#include "scheduler/model/missing_claim.h"
#include "scheduler/plugins/predicates/pre_predicate.h"

namespace scheduler {
namespace {

constexpr std::size_t kReservationsMax = 256;  // pods that share one claim
constexpr std::int64_t kAlternativesMax = 8;   // of one request

// The claims that still need devices, and those that have them; each once.
struct ClaimsOfPod {
  std::vector<const ResourceClaim*> open;
  std::vector<const Allocation*> held;
  std::vector<std::string> keys;
};

ClaimsOfPod claims_of_pod(const Model& model, const Shape& shape) {
  ClaimsOfPod out;
  for (const ClaimUse& use : shape.claims) {
    std::string key = claim_key(shape, use);
    const ResourceClaim* claim = model.claims.find_claim(key);
    if (claim == nullptr || std::find(out.keys.begin(), out.keys.end(), key) != out.keys.end()) continue;
    out.keys.push_back(std::move(key));
    if (const Allocation* held = model.claims.allocation_of(*claim))
      out.held.push_back(held);
    else
      out.open.push_back(claim);
  }
  return out;
}

// Whether the request is a list of alternatives, whose names follow the request's own.
bool is_list(const DeviceRequest& request) {
  return !request.alternatives.empty() && request.alternatives.front().name != request.name;
}

class ClaimFilter final : public ClusterFilter {
 public:
  ClaimFilter(const Model& model, const Task& task, std::uint64_t steps_max)
      : model_(model), shape_(model.shape_of(task)), steps_max_(steps_max) {}

  void apply(Sieve& sieve) override {
    const ClaimsOfPod claims = claims_of_pod(model_, shape_);
    for (const Allocation* held : claims.held) {
      if (held->node_selector.is_null()) continue;
      NodeSet reachable = model_.nodes.known();
      reachable.clear();
      for (const NodeTerm& term : held->node_terms) reachable |= model_.nodes.nodes_matching(term);
      sieve.keep(reachable, FitCode::kUnschedulable, "resourceclaim not available on the node");
    }
    if (claims.open.empty()) return;
    NodeSet short_of = sieve.alive();
    short_of.clear();
    std::map<std::string, NodeSet> problems;
    // The filter may last; what selectors may cost is anew for each pass.
    DeviceSearch search(model_.claims, model_.nodes, model_.symbols, steps_max_);
    const NodeSet candidates = sieve.alive();
    candidates.for_each([&](std::uint32_t n) {
      if (search.run(claims.open, NodeId{n})) return;
      if (search.problem().empty()) return short_of.add(n);
      auto [found, added] = problems.try_emplace(search.problem(), sieve.alive());
      if (added) found->second.clear();
      found->second.add(n);
    });
    for (const auto& [problem, nodes] : problems) sieve.refuse(nodes, FitCode::kUnresolvable, problem);
    sieve.refuse(short_of, FitCode::kUnschedulable, "cannot allocate all claims");
  }

 private:
  const Model& model_;
  const Shape& shape_;
  const std::uint64_t steps_max_;
};

class ClaimScorer final : public NodeScorer {
 public:
  ClaimScorer(const Model& model, const Task& task, std::uint64_t steps_max)
      : model_(model), shape_(model.shape_of(task)), steps_max_(steps_max) {}
  Reach reach() const override { return Reach::kCluster; }
  Normalise normalise() const override { return Normalise::kMax; }
  // Each request with alternatives adds 8 for its first one, and one less for each that follows.
  std::int64_t raw(std::uint32_t n) override {
    const ClaimsOfPod claims = claims_of_pod(model_, shape_);
    DeviceSearch search(model_.claims, model_.nodes, model_.symbols, steps_max_);
    if (!search.run(claims.open, NodeId{n})) return 0;
    std::int64_t most = 0;
    for (const ResourceClaim* claim : claims.open) {
      for (const DeviceRequest& request : claim->requests) most += is_list(request) ? kAlternativesMax : 0;
    }
    return std::max<std::int64_t>(0, most - search.preference_lost());
  }

 private:
  const Model& model_;
  const Shape& shape_;
  const std::uint64_t steps_max_;
};

}  // namespace

std::unique_ptr<ClusterFilter> make_claim_filter(const Model& model, const Task& task, std::uint64_t steps_max) {
  if (model.shape_of(task).claims.empty()) return nullptr;
  return std::make_unique<ClaimFilter>(model, task, steps_max);
}

bool has_alternatives(const Model& model, const Task& task) {
  const Shape& shape = model.shape_of(task);
  for (const ClaimUse& use : shape.claims) {
    const ResourceClaim* claim = model.claims.find_claim(claim_key(shape, use));
    if (claim == nullptr) continue;
    const bool choices = std::any_of(claim->requests.begin(), claim->requests.end(),
                                     [](const DeviceRequest& r) { return r.alternatives.size() > 1; });
    if (choices) return true;
  }
  return false;
}

std::unique_ptr<NodeScorer> make_claim_scorer(const Model& model, const Task& task, std::uint64_t steps_max) {
  return has_alternatives(model, task) ? std::make_unique<ClaimScorer>(model, task, steps_max) : nullptr;
}

Refusal check_resource_claims(const Model& model, const Task& task) {
  const Shape& shape = model.shape_of(task);
  const auto failed = [](std::string why) { return refuse_before_nodes("DynamicResources", std::move(why)); };
  for (const ClaimUse& use : shape.claims) {
    if (use.claim.empty()) return failed(base::format("pod claim {}: ResourceClaim not created yet", use.pod_claim));
    const ResourceClaim* claim = model.claims.find_claim(claim_key(shape, use));
    if (claim == nullptr) return failed(base::format("resourceclaim \"{}\" not found", use.claim));
    if (use.templated && claim->owner != model.text(task.id).uid)
      return failed(base::format("ResourceClaim {} was not created for pod {} (pod is not owner)", claim->key,
                                 model.task_key(task.id)));
    if (claim->deleting) return failed(base::format("resourceclaim \"{}\" is being deleted", use.claim));
    const bool reserved = std::find(claim->reserved_for.begin(), claim->reserved_for.end(), model.text(task.id).uid) !=
                          claim->reserved_for.end();
    if (!reserved && claim->reserved_for.size() >= kReservationsMax)
      return failed(base::format("resourceclaim \"{}\" is in use", use.claim));
    if (model.claims.allocation_of(*claim) != nullptr) continue;
    for (const DeviceRequest& request : claim->requests) {
      for (const DeviceAlternative& alternative : request.alternatives) {
        if (model.claims.find_class(alternative.device_class) != nullptr) continue;
        return failed(
            base::format("request {}: device class {} does not exist", alternative.name, alternative.device_class));
      }
    }
  }
  return {};
}

Refusal reserve_devices(Model& model, const Task& task, std::uint64_t steps_max) {
  const Shape& shape = model.shape_of(task);
  if (shape.claims.empty()) return {};
  ClaimsOfPod claims = claims_of_pod(model, shape);
  // A pod that is bound now finds what evicted pods hold taken; one that waits for them does not.
  const bool is_now = task.status == TaskStatus::kAllocated && model.claims.are_lent();
  DeviceSearch search(model.claims, model.nodes, model.symbols, steps_max);
  std::optional<std::map<std::string, Allocation>> fresh;
  {
    const ResourceClaims::LentAreTaken taken(model.claims, is_now);
    fresh = search.run(claims.open, task.node);
  }
  if (!fresh) return {"Reserve", search.problem().empty() ? "cannot allocate all claims" : search.problem()};
  for (auto& [key, allocation] : *fresh) {
    for (const api::Json& term : allocation.node_selector["nodeSelectorTerms"].items()) {
      allocation.node_terms.push_back(node_term_from(term, model.symbols));
    }
  }
  model.claims.promise(task.id, std::move(claims.keys), *std::move(fresh));
  return {};
}

}  // namespace scheduler
