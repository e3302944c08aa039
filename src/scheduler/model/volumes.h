// Which claims, volumes and storage classes exist, and which volumes are promised to pods placed but not yet bound?
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/model/ids.h"
#include "scheduler/model/node_set.h"
#include "scheduler/model/node_table.h"
#include "scheduler/model/selector.h"

namespace scheduler {

struct Claim {
  std::string key;  // "ns/name"
  std::string uid;
  std::string volume;  // bound to; empty: unbound
  std::string storage_class;
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
  std::string volume_mode = "Filesystem";
  std::vector<std::string> access_modes;
  std::int64_t bytes = 0;
  Labels labels;
  std::string claim;  // "ns/name" of claimRef; empty: free
  bool available = true;
  bool has_node_terms = false;
  std::vector<NodeTerm> node_terms;
};

struct StorageClass {
  std::string name;
  std::string provisioner;
  bool waits_for_consumer = false;
  std::vector<NodeTerm> allowed_topologies;  // any; empty: everywhere
};

// What one claim of a pod gets on a node.
struct VolumeChoice {
  std::string claim;   // "ns/name"
  std::string volume;  // empty: to be provisioned
};

class Volumes {
 public:
  std::map<std::string, Claim, std::less<>> claims;
  std::map<std::string, Volume, std::less<>> volumes;
  std::map<std::string, StorageClass, std::less<>> classes;

  const Claim* find_claim(std::string_view key) const;
  const Volume* find_volume(std::string_view name) const;
  const StorageClass* find_class(std::string_view name) const;
  // Whether the claim can only be bound once its pod has a node.
  bool waits_for_consumer(const Claim& claim) const;
  bool can_provision(const Claim& claim) const;
  // Whether the volume could satisfy the claim, wherever the node is.
  bool matches(const Volume& volume, const Claim& claim, const Symbols& symbols) const;

  void promise(TaskId task, std::vector<VolumeChoice> choices);
  void withdraw(TaskId task);
  const std::vector<VolumeChoice>* promises_of(TaskId task) const;
  bool is_promised(std::string_view volume) const { return promised_.contains(volume); }

  void note_change() { ++generation_; }
  std::uint64_t generation() const { return generation_; }

 private:
  std::map<std::string, TaskId, std::less<>> promised_;  // by volume
  std::map<std::uint32_t, std::vector<VolumeChoice>> by_task_;
  std::uint64_t generation_ = 1;
};

NodeSet nodes_of_volume(const NodeTable& nodes, const Volume& volume);

}  // namespace scheduler
