// Where can a pod's claims be had? Volume binding and volume zones.
#include <algorithm>

#include "base/format.h"
#include "scheduler/plugins/predicates_volumes.h"

namespace scheduler {
namespace {

constexpr std::string_view kZoneKeys[] = {"topology.kubernetes.io/zone", "topology.kubernetes.io/region",
                                          "failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region"};

std::vector<const Claim*> claims_of(const Model& model, const Shape& shape) {
  std::vector<const Claim*> out;
  for (const VolumeUse& use : shape.volumes) {
    if (const Claim* claim = model.volumes.find_claim(shape.ns + "/" + use.claim)) out.push_back(claim);
  }
  return out;
}

// The volumes that could serve one unbound claim, smallest first, with the nodes from which they can be reached.
struct Candidates {
  const Claim* claim = nullptr;
  std::vector<std::pair<const Volume*, NodeSet>> volumes;
  NodeSet provisionable;
};

Candidates candidates_for(const Model& model, const Claim& claim) {
  Candidates out;
  out.claim = &claim;
  for (const auto& [name, volume] : model.volumes.volumes) {
    if (model.volumes.matches(volume, claim, model.symbols)) out.volumes.emplace_back(&volume, nodes_of_volume(model.nodes, volume));
  }
  std::stable_sort(out.volumes.begin(), out.volumes.end(), [](const auto& a, const auto& b) { return a.first->bytes < b.first->bytes; });
  out.provisionable = model.nodes.known();
  out.provisionable.clear();
  if (!model.volumes.can_provision(claim)) return out;
  const StorageClass& own = *model.volumes.find_class(claim.storage_class);
  if (own.allowed_topologies.empty()) out.provisionable = model.nodes.known();
  for (const NodeTerm& term : own.allowed_topologies) out.provisionable |= model.nodes.nodes_matching(term);
  return out;
}

// What the unbound claims get on a node; nothing when one of them gets nothing.
std::optional<std::vector<VolumeChoice>> choose(const Model& model, const std::vector<Candidates>& wanted, std::uint32_t node) {
  std::vector<VolumeChoice> out;
  for (const Candidates& one : wanted) {
    const std::string& selected = one.claim->selected_node;
    if (!selected.empty() && selected != model.nodes[NodeId{node}].name) return std::nullopt;
    auto free = std::find_if(one.volumes.begin(), one.volumes.end(), [&](const auto& pair) {
      const std::string& name = pair.first->name;
      const bool taken = std::any_of(out.begin(), out.end(), [&](const VolumeChoice& c) { return c.volume == name; });
      return pair.second.has(node) && !taken && !model.volumes.is_promised(name);
    });
    if (free != one.volumes.end()) out.push_back({one.claim->key, free->first->name});
    else if (one.provisionable.has(node)) out.push_back({one.claim->key, ""});
    else return std::nullopt;
  }
  return out;
}

std::vector<Candidates> unbound_of(const Model& model, const Shape& shape) {
  std::vector<Candidates> out;
  for (const Claim* claim : claims_of(model, shape)) {
    if (claim->volume.empty()) out.push_back(candidates_for(model, *claim));
  }
  // Larger claims choose first, as they have fewer volumes to choose from.
  std::stable_sort(out.begin(), out.end(), [](const Candidates& a, const Candidates& b) { return a.claim->bytes > b.claim->bytes; });
  return out;
}

class VolumeFilter final : public ClusterFilter {
 public:
  VolumeFilter(const Model& model, const PredicateSwitches& on, const Task& task) : model_(model), shape_(model.shape_of(task)), on_(on) {}

  void apply(Sieve& sieve) override {
    if (on_.volume_zone) apply_zones(sieve);
    if (on_.volume_binding) apply_binding(sieve);
  }

 private:
  void apply_zones(Sieve& sieve) const {
    for (const Claim* claim : claims_of(model_, shape_)) {
      const Volume* volume = model_.volumes.find_volume(claim->volume);
      if (volume == nullptr) continue;
      for (const std::string_view key : kZoneKeys) {
        const Symbol symbol = model_.symbols.find(key);
        const Symbol zones = symbol.is_set() ? value_of(volume->labels, symbol) : Symbol{};
        if (!zones.is_set()) continue;
        NodeSet allowed = model_.nodes.known();
        allowed.subtract(model_.nodes.nodes_with_key(symbol));  // a node without zones is not held to them
        const std::string& text = model_.symbols.text(zones);
        for (std::size_t start = 0; start <= text.size();) {
          const std::size_t end = std::min(text.find("__", start), text.size());
          const Symbol one = model_.symbols.find(std::string_view(text).substr(start, end - start));
          if (one.is_set()) allowed |= model_.nodes.nodes_with(symbol, one);
          start = end + 2;
        }
        sieve.keep(allowed, FitCode::kUnresolvable, "node(s) had no available volume zone");
      }
    }
  }

  void apply_binding(Sieve& sieve) const {
    for (const Claim* claim : claims_of(model_, shape_)) {
      if (claim->volume.empty()) continue;
      const Volume* volume = model_.volumes.find_volume(claim->volume);
      if (volume == nullptr) {
        sieve.refuse(sieve.alive(), FitCode::kUnresolvable, "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)");
        return;
      }
      sieve.keep(nodes_of_volume(model_.nodes, *volume), FitCode::kUnresolvable, "node(s) had volume node affinity conflict");
    }
    const std::vector<Candidates> wanted = unbound_of(model_, shape_);
    if (wanted.empty()) return;
    NodeSet good = sieve.alive();
    sieve.alive().for_each([&](std::uint32_t n) {
      if (!choose(model_, wanted, n)) good.remove(n);
    });
    sieve.keep(good, FitCode::kUnresolvable, "node(s) didn't find available persistent volumes to bind");
  }

  const Model& model_;
  const Shape& shape_;
  const PredicateSwitches on_;
};

}  // namespace

std::unique_ptr<ClusterFilter> make_volume_filter(const Model& model, const PredicateSwitches& on, const Task& task) {
  const bool matters = !model.shape_of(task).volumes.empty() && (on.volume_zone || on.volume_binding);
  return matters ? std::make_unique<VolumeFilter>(model, on, task) : nullptr;
}

Refusal check_claims(const Model& model, const Task& task) {
  const Shape& shape = model.shape_of(task);
  const auto failed = [](std::string message) { return Refusal{"PrePredicate", "plugin VolumeBinding pre-predicates failed " + message}; };
  for (const VolumeUse& use : shape.volumes) {
    const Claim* claim = model.volumes.find_claim(shape.ns + "/" + use.claim);
    if (claim == nullptr) return failed(base::format("persistentvolumeclaim \"{}\" not found", use.claim));
    if (claim->deleting) return failed(base::format("persistentvolumeclaim \"{}\" is being deleted", use.claim));
    if (claim->volume.empty() && !model.volumes.waits_for_consumer(*claim)) {
      return failed("pod has unbound immediate PersistentVolumeClaims");
    }
  }
  return {};
}

Refusal reserve_volumes(Model& model, const Task& task) {
  const Shape& shape = model.shape_of(task);
  if (shape.volumes.empty()) return {};
  const std::vector<Candidates> wanted = unbound_of(model, shape);
  if (wanted.empty()) return {};
  auto choices = choose(model, wanted, task.node.index);
  if (!choices) return {"Reserve", "node(s) didn't find available persistent volumes to bind"};
  model.volumes.promise(task.id, *std::move(choices));
  return {};
}

}  // namespace scheduler
