// The decisions of a cycle. A value: whoever executes it needs nothing of the model.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "api/schema/quantity.h"
#include "scheduler/model/core/ids.h"
#include "scheduler/model/core/job.h"
#include "scheduler/model/devices/dra.h"
#include "scheduler/model/storage/volumes.h"

namespace scheduler {

struct PlannedBind {
  std::string ns;
  std::string pod;
  std::string uid;
  std::string node;
  std::map<std::string, std::string> annotations;  // merged into the pod by the binding
  std::vector<VolumeChoice> volumes;               // to be bound before the pod is
  std::string node_lock;                           // annotation of the node that is set to the time before; empty: none
  std::vector<PlannedClaim> claims;                // to be allocated and reserved before the pod is
  base::Duration volume_timeout{};                 // how long that may take
  TaskId task;  // the pod in the model that decided; of use before its next change only
};

struct PlannedEviction {
  std::string ns;
  std::string pod;
  std::string uid;
  std::string node;
  std::string action;     // preempt, reclaim, ...: the reason users see
  std::string group;      // the victim's "ns/group"
  std::string for_group;  // the beneficiary's "ns/group", empty when there is none
};

// Condition PodScheduled=False of a pod that waits, with a FailedScheduling event.
struct PlannedPodCondition {
  std::string ns;
  std::string pod;
  std::string uid;
  std::string reason;
  std::string message;
  std::string nominated_node;  // empty: unchanged
};

// Controllers make a group "podgroup-<uid>" for pods that have none. Its pods are there before it: nobody waits for it
// to be let in.
inline bool is_made_for_pods(std::string_view group_name) {
  constexpr std::string_view kPrefix = "podgroup-";
  constexpr std::size_t kUidLength = 36;
  return group_name.size() == kPrefix.size() + kUidLength && group_name.starts_with(kPrefix);
}

struct PlannedGroupStatus {
  std::string ns;
  std::string name;
  std::string uid;
  GroupStatus status;
  bool is_urgent = true;                        // says more than counts and conditions: others wait for it
  std::optional<std::string> allocated_domain;  // the HyperNode its tasks lie in (empty: none); unset: unchanged
  std::optional<std::string> eviction_round{};  // its evictions that led to nothing (empty: none); unset: unchanged
};

struct PlannedGroupEvent {
  std::string ns;
  std::string name;
  std::string uid;
  std::string type;
  std::string reason;
  std::string message;
};

struct PlannedQueueStatus {
  std::string name;
  api::ResourceList allocated;
  std::vector<std::string> gone;  // resources that were listed before
};

// The queue has admitted the pod: its scheduling gate of that name goes.
struct PlannedGateRemoval {
  std::string ns;
  std::string pod;
  std::string uid;
  std::string gate;
};

// The nodes that this scheduler uses of its shard, and those that it would take or give up to use what is desired.
struct PlannedShardStatus {
  std::string name;
  std::vector<std::string> in_use;
  std::vector<std::string> to_remove;
  std::vector<std::string> to_add;
  base::Time at;
  std::string version{};  // of the NodeShard that this follows from; empty: any
};

struct Plan {
  std::vector<PlannedBind> binds;
  std::vector<PlannedEviction> evictions;
  std::vector<PlannedPodCondition> pod_conditions;
  std::vector<PlannedGroupStatus> groups;
  std::vector<PlannedGroupEvent> group_events;
  std::vector<PlannedQueueStatus> queues;
  std::vector<PlannedGateRemoval> gate_removals;
  std::vector<PlannedShardStatus> shards;

  void add_group_event(const Job& job, std::string type, std::string reason, std::string message) {
    group_events.push_back({std::string(job.ns()), std::string(job.name()), job.group_uid.str(), std::move(type),
                            std::move(reason), std::move(message)});
  }
  // Each group's events in the order in which they came about; between groups the order in which they were asked means
  // nothing.
  void sort_group_events() {
    std::stable_sort(group_events.begin(), group_events.end(),
                     [](const PlannedGroupEvent& a, const PlannedGroupEvent& b) {
                       return std::tie(a.ns, a.name) < std::tie(b.ns, b.name);
                     });
  }
  bool empty() const {
    return binds.empty() && evictions.empty() && pod_conditions.empty() && groups.empty() && group_events.empty() &&
           queues.empty() && gate_removals.empty() && shards.empty();
  }
};

}  // namespace scheduler
