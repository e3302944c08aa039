// The annotations of nodes and pods about shared devices.
//
// Kept as texts beside the tables: only nodes and pods with devices have an entry. The plugins that share devices out
// know what the texts mean.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

#include "api/json/json.h"
#include "scheduler/model/core/ids.h"
#include "scheduler/model/devices/device_configs.h"
#include "scheduler/model/devices/node_locks.h"
#include "scheduler/model/topology/numa.h"

namespace scheduler {

// How a dump tells which CPUs a task was given.
inline constexpr std::string_view kDumpedCpus = "volcano.sh/dumped-cpus";

using Annotations = std::map<std::string, std::string, std::less<>>;

class DeviceAnnotations {
 public:
  // Takes a Node's annotations; true when it says something else than before.
  bool set_node(NodeId node, const api::Json& object);
  void remove_node(NodeId node);
  // {"annotations", "allocatable", "labels"} as far as they name devices; null without any. All extended resources of a
  // node are kept that registers devices in annotations: a configuration may name them as it likes.
  const api::Json& node(NodeId node) const;

  // Takes the annotations of a Pod on a node about its devices; true when it says something else than before. Before it
  // is on a node, it can only repeat what somebody else once said.
  bool set_task(TaskId task, const api::Json& pod);
  void forget_task(TaskId task);
  // Adds the annotations of a placement; until it is revoked, or the pod itself says it.
  void grant(TaskId task, const Annotations& annotations);
  void revoke(TaskId task) {
    granted_.erase(task.index);
    locks_.erase(task.index);
    cpus_.erase(task.index);
  }
  // The CPUs of its node that a task was given, until the node's agent reports its CPUs anew; null without any.
  void give_cpus(TaskId task, CpuSet cpus) { cpus_[task.index] = std::move(cpus); }
  void forget_cpus(TaskId task) { cpus_.erase(task.index); }
  const CpuSet* cpus_of(TaskId task) const {
    auto found = cpus_.find(task.index);
    return found == cpus_.end() ? nullptr : &found->second;
  }
  bool has_holders() const { return !stored_.empty() || !granted_.empty(); }
  const Annotations* granted(TaskId task) const { return entry(granted_, task); }
  const Annotations* stored(TaskId task) const { return entry(stored_, task); }
  // Before the pod is bound, its node says by this annotation that devices are being given out; empty: it does not.
  void lock(TaskId task, std::string annotation) { locks_[task.index] = std::move(annotation); }
  std::string lock_of(TaskId task) const {
    auto found = locks_.find(task.index);
    return found == locks_.end() ? std::string() : found->second;
  }
  // The devices of the pod's own annotations, or else of its placement; null without any.
  const Annotations* devices_of(TaskId task) const {
    const Annotations* own = stored(task);
    return own != nullptr ? own : granted(task);
  }

  NodeLocks node_locks;
  DeviceConfigs configs;

 private:
  using ByTask = std::unordered_map<std::uint32_t, Annotations>;
  static const Annotations* entry(const ByTask& map, TaskId task) {
    auto found = map.find(task.index);
    return found == map.end() ? nullptr : &found->second;
  }

  std::unordered_map<std::uint32_t, api::Json> nodes_;
  ByTask stored_, granted_;
  std::unordered_map<std::uint32_t, CpuSet> cpus_;
  std::unordered_map<std::uint32_t, std::string> locks_;
};

}  // namespace scheduler
