// Which claims, volumes and storage classes exist, and which volumes are promised to pods placed but not yet bound?
#include "scheduler/model/storage/volumes.h"

#include <algorithm>

namespace scheduler {
namespace {

constexpr std::string_view kNoProvisioner = "kubernetes.io/no-provisioner";

template <class Map>
auto find_in(const Map& map, std::string_view key) {
  auto found = map.find(key);
  return found == map.end() ? nullptr : &found->second;
}

}  // namespace

const Claim* Volumes::find_claim(std::string_view key) const { return find_in(claims, key); }
const Volume* Volumes::find_volume(std::string_view name) const { return find_in(volumes, name); }
const StorageClass* Volumes::find_class(std::string_view name) const { return find_in(classes, name); }

bool Volumes::waits_for_consumer(const Claim& claim) const {
  const StorageClass* own = find_class(claim.storage_class);
  return own != nullptr && own->waits_for_consumer;
}

bool Volumes::can_provision(const Claim& claim) const {
  const StorageClass* own = find_class(claim.storage_class);
  return own != nullptr && !own->provisioner.empty() && own->provisioner != kNoProvisioner;
}

bool Volumes::needs_capacity(const Claim& claim) const {
  const StorageClass* own = find_class(claim.storage_class);
  if (!reads_capacities || own == nullptr) return false;
  auto driver = drivers.find(own->provisioner);
  return driver != drivers.end() && driver->second;
}

const StorageCapacity* Volumes::roomiest(const Claim& claim, const Labels& node, const Symbols& symbols) const {
  const StorageCapacity* best = nullptr;
  for (const auto& [key, one] : capacities) {
    if (one.storage_class != claim.storage_class || !one.nodes.matches(node, symbols)) continue;
    const auto limit = one.largest_bytes ? one.largest_bytes : one.bytes;
    if (!limit || *limit < claim.bytes) continue;
    if (best == nullptr || one.bytes.value_or(0) > best->bytes.value_or(0)) best = &one;
  }
  return best;
}

std::string Volumes::driver_of(const Claim& claim) const {
  if (const Volume* volume = find_volume(claim.volume)) return volume->driver;
  const StorageClass* own = find_class(claim.storage_class);
  return own == nullptr || own->provisioner == kNoProvisioner ? "" : own->provisioner;
}

std::string Volumes::attached_name_of(const Claim& claim) const {
  const Volume* volume = find_volume(claim.volume);
  return volume != nullptr ? attached_name(*volume) : driver_of(claim) + "^" + claim.key;
}

bool Volumes::matches(const Volume& volume, const Claim& claim, const Symbols& symbols) const {
  if (volume.deleting || volume.bytes < claim.bytes || volume.attributes_class != claim.attributes_class) return false;
  if (volume.storage_class != claim.storage_class || volume.volume_mode != claim.volume_mode) return false;
  if (is_bound_to(volume, claim)) return true;
  if (!volume.claim.empty() || !volume.available) return false;
  const bool offers = std::all_of(claim.access_modes.begin(), claim.access_modes.end(), [&](const std::string& mode) {
    return std::find(volume.access_modes.begin(), volume.access_modes.end(), mode) != volume.access_modes.end();
  });
  return offers && (!claim.selector.present || claim.selector.matches(volume.labels, symbols));
}

void Volumes::promise(TaskId task, std::vector<VolumeChoice> choices) {
  if (choices.empty()) return;
  for (const VolumeChoice& choice : choices) {
    if (choice.volume.empty()) continue;
    Promise& promise = promised_[choice.volume];
    promise.claim = choice.claim;
    promise.tasks.push_back(task);
  }
  by_task_[task.index] = std::move(choices);
}

void Volumes::withdraw(TaskId task) {
  auto found = by_task_.find(task.index);
  if (found == by_task_.end()) return;
  for (const VolumeChoice& choice : found->second) {
    auto held = promised_.find(choice.volume);
    if (held == promised_.end()) continue;
    std::erase(held->second.tasks, task);
    if (held->second.tasks.empty()) promised_.erase(held);
  }
  by_task_.erase(found);
}

std::string_view Volumes::promised_to(std::string_view volume) const {
  const Promise* promise = find_in(promised_, volume);
  return promise == nullptr ? std::string_view() : std::string_view(promise->claim);
}

const std::vector<VolumeChoice>* Volumes::promises_of(TaskId task) const {
  return [&] {
    auto found = by_task_.find(task.index);
    return found == by_task_.end() ? nullptr : &found->second;
  }();
}

NodeSet nodes_of_volume(const NodeTable& nodes, const Volume& volume) {
  NodeSet out = nodes.known();
  if (!volume.has_node_terms) return out;
  NodeSet any = nodes.known();
  any.clear();
  for (const NodeTerm& term : volume.node_terms) any |= nodes.nodes_matching(term);
  return out &= any;
}

}  // namespace scheduler
