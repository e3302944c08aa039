// Which claims, volumes and storage classes exist, and which volumes are promised to pods placed but not yet bound?
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "scheduler/model/core/ids.h"
#include "scheduler/model/core/selector.h"
#include "scheduler/model/nodes/node_set.h"
#include "scheduler/model/nodes/node_table.h"

namespace scheduler {

struct Claim {
  std::string key;  // "ns/name"
  std::string uid;
  std::string owner;          // uid of its controller; empty: none
  std::string volume;         // bound to; empty: unbound
  bool lost = false;          // its volume is gone
  bool names_volume = false;  // asks for one volume by name, and is not bound to it yet
  std::string storage_class;
  std::string attributes_class;
  std::string volume_mode = "Filesystem";
  std::string selected_node;
  std::vector<std::string> access_modes;
  std::int64_t bytes = 0;
  LabelSelector selector;
  bool deleting = false;
};

struct Volume {
  std::string name;
  std::string storage_class;
  std::string attributes_class;
  std::string volume_mode = "Filesystem";
  std::string driver;  // of CSI; empty: another kind of volume
  std::string handle;
  std::vector<std::string> access_modes;
  std::int64_t bytes = 0;
  Labels labels;
  std::string claim;      // "ns/name" of claimRef; empty: free
  std::string claim_uid;  // of claimRef; empty: any claim of that name
  bool available = true;  // by its phase
  bool deleting = false;
  bool has_node_terms = false;
  std::vector<NodeTerm> node_terms;
};

struct StorageClass {
  std::string name;
  std::string provisioner;
  bool waits_for_consumer = false;
  std::vector<NodeTerm> allowed_topologies;  // any; empty: everywhere
};

// How much a provisioner can still make of one class, where (CSIStorageCapacity).
struct StorageCapacity {
  std::string storage_class;
  LabelSelector nodes;
  std::optional<std::int64_t> bytes;          // left
  std::optional<std::int64_t> largest_bytes;  // of one volume
};

// The volume of one claim of a pod on a node.
struct VolumeChoice {
  std::string claim;   // "ns/name"
  std::string volume;  // empty: to be provisioned
};

class Volumes {
 public:
  std::map<std::string, Claim, std::less<>> claims;
  std::map<std::string, Volume, std::less<>> volumes;
  std::map<std::string, StorageClass, std::less<>> classes;
  std::map<std::string, StorageCapacity, std::less<>> capacities;  // by "ns/name"
  std::map<std::string, bool, std::less<>> drivers;                // by name: publishes capacities
  // By node: drivers with the most volumes they attach there.
  std::map<std::string, std::map<std::string, std::int64_t>, std::less<>> attach_limits;
  // Volumes attached without a pod that the scheduler sees, by name of the attachment: node and volume, both by name.
  std::map<std::string, std::pair<std::string, std::string>, std::less<>> attachments;
  bool reads_capacities = true;                      // --csi-storage
  base::Duration bind_timeout = base::seconds(600);  // volumebinding.bindTimeoutSeconds

  const Claim* find_claim(std::string_view key) const;
  const Volume* find_volume(std::string_view name) const;
  const StorageClass* find_class(std::string_view name) const;
  // Whether the claim can only be bound once its pod has a node.
  bool waits_for_consumer(const Claim& claim) const;
  bool can_provision(const Claim& claim) const;
  // The capacity objects of the claim's class that reach the node's labels, largest first.
  const StorageCapacity* roomiest(const Claim& claim, const Labels& node, const Symbols& symbols) const;
  // Whether provisioning on a node depends on published capacities.
  bool needs_capacity(const Claim& claim) const;
  // The driver that attaches the claim's volume, or empty; and the volume's name among those of the driver.
  std::string driver_of(const Claim& claim) const;
  std::string attached_name_of(const Claim& claim) const;
  static std::string attached_name(const Volume& volume) { return volume.driver + "^" + volume.handle; }
  // Whether the volume could satisfy the claim, wherever the node is.
  bool matches(const Volume& volume, const Claim& claim, const Symbols& symbols) const;
  // Whether somebody bound the volume beforehand to this very claim.
  static bool is_bound_to(const Volume& volume, const Claim& claim) {
    return volume.claim == claim.key && (volume.claim_uid.empty() || volume.claim_uid == claim.uid);
  }

  void promise(TaskId task, std::vector<VolumeChoice> choices);
  void withdraw(TaskId task);
  const std::vector<VolumeChoice>* promises_of(TaskId task) const;
  // The claim that gets the volume, or empty.
  std::string_view promised_to(std::string_view volume) const;

  void count_change() { ++generation_; }
  std::uint64_t generation() const { return generation_; }

 private:
  struct Promise {
    std::string claim;
    std::vector<TaskId> tasks;  // that share it
  };

  std::map<std::string, Promise, std::less<>> promised_;  // by volume
  std::map<std::uint32_t, std::vector<VolumeChoice>> by_task_;
  std::uint64_t generation_ = 1;
};

NodeSet nodes_of_volume(const NodeTable& nodes, const Volume& volume);

}  // namespace scheduler
