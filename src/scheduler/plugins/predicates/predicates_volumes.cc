// The nodes where a pod's claims can be had. Volume binding and volume zones.
#include "scheduler/plugins/predicates/predicates_volumes.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/format.h"
#include "scheduler/plugins/predicates/pre_predicate.h"

namespace scheduler {
namespace {

// From which nodes volumes can be reached: thousands of claims may have the same thousands of volumes to choose from.
using NodesOfVolumes = std::unordered_map<const Volume*, NodeSet>;

// The volumes that could serve one unbound claim, smallest first, with the nodes from which they can be reached. One
// that was bound to the claim beforehand is the only one.
struct Candidates {
  const Claim* claim = nullptr;
  std::vector<const NodesOfVolumes::value_type*> volumes;
  NodeSet provisionable;
  NodeSet roomy;  // of them, those with capacity left for the claim
};

Candidates candidates_for(const Model& model, const Claim& claim, NodesOfVolumes& nodes) {
  Candidates out;
  out.claim = &claim;
  for (const auto& [name, volume] : model.volumes.volumes) {
    const std::string_view promised = model.volumes.promised_to(name);
    if (!promised.empty() && promised != claim.key) continue;
    if (!model.volumes.matches(volume, claim, model.symbols)) continue;
    // Pods that share a claim get the same volume.
    const bool is_ours = !promised.empty() || Volumes::is_bound_to(volume, claim);
    if (is_ours) out.volumes.clear();
    const auto [reached, is_new] = nodes.try_emplace(&volume);
    if (is_new) reached->second = nodes_of_volume(model.nodes, volume);
    out.volumes.push_back(&*reached);
    if (is_ours) break;
  }
  std::stable_sort(out.volumes.begin(), out.volumes.end(),
                   [](const auto* a, const auto* b) { return a->first->bytes < b->first->bytes; });
  out.provisionable = model.nodes.known();
  out.provisionable.clear();
  if (!model.volumes.can_provision(claim)) return out;
  const StorageClass& own = *model.volumes.find_class(claim.storage_class);
  if (own.allowed_topologies.empty()) out.provisionable = model.nodes.known();
  for (const NodeTerm& term : own.allowed_topologies) out.provisionable |= model.nodes.nodes_matching(term);
  out.roomy = out.provisionable;
  if (!model.volumes.needs_capacity(claim)) return out;
  out.provisionable.for_each([&](std::uint32_t n) {
    if (model.volumes.roomiest(claim, model.nodes[NodeId{n}].labels, model.symbols) == nullptr) out.roomy.remove(n);
  });
  return out;
}

// The volumes that the unbound claims get on a node; nothing when one of them gets nothing, which may be for want of
// capacity.
std::optional<std::vector<VolumeChoice>> choose(const Model& model, const std::vector<Candidates>& wanted,
                                                std::uint32_t node, bool* no_room = nullptr) {
  std::vector<VolumeChoice> out;
  std::unordered_set<const Volume*> taken;
  bool cramped = false;
  for (const Candidates& one : wanted) {
    const std::string& selected = one.claim->selected_node;
    if (!selected.empty() && selected != model.nodes[NodeId{node}].name) return std::nullopt;
    // Once a node was chosen for the claim, it is provisioned there.
    auto free = std::find_if(one.volumes.begin(), one.volumes.end(), [&](const auto* volume) {
      return selected.empty() && volume->second.has(node) && !taken.contains(volume->first);
    });
    if (free != one.volumes.end()) {
      out.push_back({one.claim->key, (*free)->first->name});
      taken.insert((*free)->first);
    } else if (one.roomy.has(node))
      out.push_back({one.claim->key, ""});
    else if (one.provisionable.has(node))
      cramped = true;
    else
      return std::nullopt;
  }
  if (no_room != nullptr) *no_room = cramped;
  if (cramped) return std::nullopt;
  return out;
}

std::vector<Candidates> unbound_of(const Model& model, const Shape& shape, NodesOfVolumes& nodes) {
  std::vector<Candidates> out;
  std::unordered_set<const Claim*> seen;
  for (const Claim* claim : claims_of(model, shape)) {
    if (claim->volume.empty() && seen.insert(claim).second) out.push_back(candidates_for(model, *claim, nodes));
  }
  // Smaller claims choose first, and take the smallest volumes.
  std::stable_sort(out.begin(), out.end(),
                   [](const Candidates& a, const Candidates& b) { return a.claim->bytes < b.claim->bytes; });
  return out;
}

constexpr std::string_view kZoneKeys[] = {"topology.kubernetes.io/zone", "topology.kubernetes.io/region",
                                          "failure-domain.beta.kubernetes.io/zone",
                                          "failure-domain.beta.kubernetes.io/region"};

class VolumeZoneFilter final : public ClusterFilter {
 public:
  VolumeZoneFilter(const Model& model, const Task& task) : model_(model), shape_(model.shape_of(task)) {}

  void apply(Sieve& sieve) override {
    NodeSet unzoned = model_.nodes.known();  // a node without any such label is not held to zones
    for (const std::string_view key : kZoneKeys) unzoned.subtract(nodes_with_key(key));
    for (const Claim* claim : claims_of(model_, shape_)) {
      const Volume* volume = model_.volumes.find_volume(claim->volume);
      if (volume == nullptr) continue;
      for (std::size_t i = 0; i < std::size(kZoneKeys); ++i) {
        const Symbol symbol = model_.symbols.find(kZoneKeys[i]);
        const Symbol zones = symbol.is_set() ? value_of(volume->labels, symbol) : Symbol{};
        if (!zones.is_set()) continue;
        NodeSet allowed = unzoned;
        add_zones(model_.symbols.text(zones), kZoneKeys[i], i < 2 ? "" : kZoneKeys[i - 2], allowed);
        sieve.keep(allowed, FitCode::kUnresolvable, "node(s) had no available volume zone");
      }
    }
  }

 private:
  NodeSet nodes_with_key(std::string_view key) const {
    const Symbol symbol = model_.symbols.find(key);
    return symbol.is_set() ? model_.nodes.nodes_with_key(symbol) : NodeSet();
  }

  // Nodes in one of the zones ("a__b"), by the volume's own key or, where they lack it, by that key's newer name.
  void add_zones(const std::string& zones, std::string_view key, std::string_view other_key, NodeSet& out) const {
    NodeSet without = model_.nodes.known();
    without.subtract(nodes_with_key(key));
    const Symbol own = model_.symbols.find(key), other = model_.symbols.find(other_key);
    for (std::size_t start = 0; start <= zones.size();) {
      const std::size_t end = std::min(zones.find("__", start), zones.size());
      const Symbol zone = model_.symbols.find(std::string_view(zones).substr(start, end - start));
      start = end + 2;
      if (!zone.is_set()) continue;
      out |= model_.nodes.nodes_with(own, zone);
      if (!other.is_set()) continue;
      NodeSet renamed = without;
      out |= renamed &= model_.nodes.nodes_with(other, zone);
    }
  }

  const Model& model_;
  const Shape& shape_;
};

// Claims for one pod at a time (ReadWriteOncePod), which pods of any node may have already. Kubernetes'
// VolumeRestrictions.
class OncePodFilter final : public ClusterFilter {
 public:
  OncePodFilter(const Model& model, const Task& task) : model_(model) {
    for (const Claim* claim : claims_of(model, model.shape_of(task)))
      if (is_for_one_pod(*claim)) wanted_.insert(claim->key);
  }
  static bool is_for_one_pod(const Claim& claim) {
    return std::ranges::find(claim.access_modes, "ReadWriteOncePod") != claim.access_modes.end();
  }

  void apply(Sieve& sieve) override {
    NodeSet free = model_.nodes.known(), holding = free;
    holding.clear();
    free.for_each([&](std::uint32_t n) {
      if (holds(n)) holding.add(n);
    });
    if (holding.empty()) return;
    // An eviction helps only where the holder is.
    NodeSet others = free;
    others.subtract(holding);
    sieve.refuse(holding, FitCode::kUnschedulable, kConflict);
    sieve.refuse(others, FitCode::kUnresolvable, kConflict);
  }

 private:
  static constexpr std::string_view kConflict =
      "node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode";

  bool holds(std::uint32_t n) const {
    return std::ranges::any_of(model_.nodes[NodeId{n}].tasks, [&](TaskId id) {
      const Task& task = model_.task(id);
      if (!(effects_of(task.status) & kEffectSeen)) return false;
      const Shape& shape = model_.shape_of(task);
      return std::ranges::any_of(shape.volumes,
                                 [&](const VolumeUse& use) { return wanted_.contains(shape.ns + "/" + use.claim); });
    });
  }

  const Model& model_;
  std::unordered_set<std::string> wanted_;
};

class VolumeBindingFilter final : public ClusterFilter {
 public:
  VolumeBindingFilter(const Model& model, const Task& task) : model_(model), shape_(model.shape_of(task)) {}

  void apply(Sieve& sieve) override {
    for (const Claim* claim : claims_of(model_, shape_)) {
      if (claim->volume.empty()) continue;
      const Volume* volume = model_.volumes.find_volume(claim->volume);
      if (volume == nullptr) {
        sieve.refuse(sieve.alive(), FitCode::kUnresolvable,
                     "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)");
        return;
      }
      sieve.keep(nodes_of_volume(model_.nodes, *volume), FitCode::kUnresolvable,
                 "node(s) had volume node affinity conflict");
    }
    NodesOfVolumes nodes;
    const std::vector<Candidates> wanted = unbound_of(model_, shape_, nodes);
    if (wanted.empty()) return;
    NodeSet good = sieve.alive(), roomy = good;
    sieve.alive().for_each([&](std::uint32_t n) {
      bool no_room = false;
      if (choose(model_, wanted, n, &no_room)) return;
      (no_room ? roomy : good).remove(n);
    });
    sieve.keep(good, FitCode::kUnresolvable, "node(s) didn't find available persistent volumes to bind");
    sieve.keep(roomy, FitCode::kUnresolvable, "node(s) did not have enough free storage");
  }

 private:
  const Model& model_;
  const Shape& shape_;
};

}  // namespace

std::vector<const Claim*> claims_of(const Model& model, const Shape& shape) {
  std::vector<const Claim*> out;
  for (const VolumeUse& use : shape.volumes) {
    if (const Claim* claim = model.volumes.find_claim(shape.ns + "/" + use.claim)) out.push_back(claim);
  }
  return out;
}

std::unique_ptr<ClusterFilter> make_zone_filter(const Model& model, const Task& task) {
  return model.shape_of(task).volumes.empty() ? nullptr : std::make_unique<VolumeZoneFilter>(model, task);
}

std::unique_ptr<ClusterFilter> make_binding_filter(const Model& model, const Task& task) {
  return model.shape_of(task).volumes.empty() ? nullptr : std::make_unique<VolumeBindingFilter>(model, task);
}

std::unique_ptr<ClusterFilter> make_once_pod_filter(const Model& model, const Task& task) {
  const std::vector<const Claim*> claims = claims_of(model, model.shape_of(task));
  const bool any = std::ranges::any_of(claims, [](const Claim* one) { return OncePodFilter::is_for_one_pod(*one); });
  return any ? std::make_unique<OncePodFilter>(model, task) : nullptr;
}

Refusal check_claims(const Model& model, const Task& task) {
  const Shape& shape = model.shape_of(task);
  const auto failed = [](std::string why) { return refuse_before_nodes("VolumeBinding", std::move(why)); };
  for (const VolumeUse& use : shape.volumes) {
    const Claim* claim = model.volumes.find_claim(shape.ns + "/" + use.claim);
    if (claim == nullptr) {
      return failed(
          use.ephemeral
              ? base::format("waiting for ephemeral volume controller to create the persistentvolumeclaim \"{}\"",
                             use.claim)
              : base::format("persistentvolumeclaim \"{}\" not found", use.claim));
    }
    if (claim->lost)
      return failed(base::format("persistentvolumeclaim \"{}\" bound to non-existent persistentvolume \"{}\"",
                                 use.claim, claim->volume));
    if (use.ephemeral && claim->owner != model.text(task.id).uid)
      return failed(
          base::format("PVC {} was not created for pod {} (pod is not owner)", claim->key, model.task_key(task.id)));
    if (claim->deleting) return failed(base::format("persistentvolumeclaim \"{}\" is being deleted", use.claim));
    if (claim->volume.empty() && (claim->names_volume || !model.volumes.waits_for_consumer(*claim))) {
      return failed("pod has unbound immediate PersistentVolumeClaims");
    }
  }
  return {};
}

Refusal reserve_volumes(Model& model, const Task& task) {
  const Shape& shape = model.shape_of(task);
  if (shape.volumes.empty()) return {};
  NodesOfVolumes nodes;
  const std::vector<Candidates> wanted = unbound_of(model, shape, nodes);
  if (wanted.empty()) return {};
  auto choices = choose(model, wanted, task.node.index);
  if (!choices) return {"Reserve", "node(s) didn't find available persistent volumes to bind"};
  model.volumes.promise(task.id, *std::move(choices));
  return {};
}

}  // namespace scheduler
