// The scheduler's knowledge of a PodGroup with its pods (a job), of a pod (a task), and of a Queue.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"
#include "base/time.h"
#include "scheduler/model/core/ids.h"
#include "scheduler/model/core/optional_value.h"
#include "scheduler/model/core/resource.h"
#include "scheduler/model/core/shared.h"
#include "scheduler/model/core/status.h"
#include "scheduler/model/core/sub_job.h"
#include "scheduler/model/core/text.h"
#include "scheduler/model/core/uid.h"

namespace scheduler {

// The scheduling gate that a queue removes by admitting the pod; the annotation of the same name opts in.
inline constexpr std::string_view kQueueGate = "scheduling.volcano.sh/queue-allocation-gate";

// One of hundreds of thousands, and all of them are walked: what is read together stands together, without gaps.
struct Task {
  TaskId id;
  JobId job;    // unset: the pod names no group; it only counts on its node
  NodeId node;  // unset: nowhere
  ShapeId shape;
  LabelSetId labels;
  std::int32_t priority = 1;
  std::uint32_t job_slot = 0;     // position in Job::tasks
  std::uint32_t node_slot = 0;    // position in NodeRow::tasks
  std::uint32_t role = 0;         // position in Job::roles
  std::int32_t pod_priority = 0;  // spec.priority, 0 when missing
  std::int64_t created_ns = 0;
  std::int64_t name_index = -1;         // the number at the end of "a-b-7"; -1 when there is none
  std::int64_t protected_until_ns = 0;  // volcano.sh/cooldown-time after it was scheduled
  // The node of the task when its statement was discarded in cycle `last_cycle`, for messages.
  std::uint64_t last_cycle = 0;
  NodeId last_node;
  TaskStatus last_status = TaskStatus::kPending;
  TaskStatus status = TaskStatus::kPending;
  bool last_eviction : 1 = false;
  bool in_use : 1 = false;
  bool best_effort : 1 = false;
  bool gated : 1 = false;            // has scheduling gates
  bool queue_gate_only : 1 = false;  // its only gate is the queue's admission gate
  bool queue_gate_opt_in : 1 = false;
  bool preemptable : 1 = true;
  bool never_preempts : 1 = false;  // preemptionPolicy: Never
  bool eviction_occurred : 1 = false;
  bool critical : 1 = false;   // conformance protects it
  bool preempted : 1 = false;  // is being deleted for a more important pod
  bool ours : 1 = true;        // schedulerName is one of ours
};
static_assert(sizeof(Task) == 80);

// Cold facts of a task: read when something is written or printed.
struct TaskText {
  Text ns;
  Text name;
  Uid uid;
  Text resource_version;
  Text nominated_node;  // as written in the pod, or decided since
};

enum class GroupPhase : std::uint8_t { kNone, kPending, kInqueue, kRunning, kUnknown, kCompleted };
std::string_view name_of(GroupPhase phase);
GroupPhase group_phase_from(std::string_view text);

struct GroupCondition {
  Text type;
  Text status;
  Text reason;
  Text message;
  Text transition_id;
  base::Time last_transition;
};

struct GroupStatus {
  GroupPhase phase = GroupPhase::kNone;
  std::vector<GroupCondition> conditions;
  std::int32_t running = 0;
  std::int32_t succeeded = 0;
  std::int32_t failed = 0;
};

// Tasks of one job with the same task-spec name.
struct Role {
  Text name;             // "" for tasks without a role
  std::int32_t min = 0;  // minTaskMember
  bool has_min = false;
  StatusCounts counts{};
  std::int32_t pending_best_effort = 0;

  // Whether a minimum or a task has its name. A group keeps others for a while, as if they were not there.
  bool is_used() const {
    return has_min || std::any_of(counts.begin(), counts.end(), [](std::int32_t n) { return n != 0; });
  }
  // Placed for good, or finished well.
  std::int32_t occupied() const { return allocated_like(counts) + count_of(counts, TaskStatus::kSucceeded); }
};

// The requests of groups beside their pods; many ask for the same.
struct GroupExtras {
  bool has_minimum = false;         // spec.minResources is there
  api::ResourceList min_resources;  // as written
  Request minimum;                  // the same, without what is ignored
  std::optional<base::Duration> waiting_time;
  std::string budget_min_available;      // volcano.sh/jdb-min-available
  std::string budget_max_unavailable;    // volcano.sh/jdb-max-unavailable
  std::optional<std::int32_t> priority;  // volcano.sh/group-priority: counts before that of the class
  Symbol domain_key;                     // volcano.sh/topology-key: all pods share one value of this label of nodes
  bool operator==(const GroupExtras&) const = default;
};

// Which pods of a group may be evicted.
enum class DisruptionMode : std::uint8_t {
  kSpare,   // those that the group can spare
  kSingle,  // any, each alone
  kAll,     // all together, or none
};

// One of tens of thousands: without gaps, too.
struct Job {
  JobId id;
  bool in_use = false;
  bool has_group = false;
  bool preemptable : 1 = false;
  bool has_role_minimums : 1 = false;
  bool names_preemptable : 1 = false;  // the annotation or label is there
  bool never_preempts : 1 = false;     // volcano.sh/preemption-policy: Never
  DisruptionMode disruption = DisruptionMode::kSpare;
  bool listed_changed = false;
  bool listed_open = false;
  GroupPhase phase = GroupPhase::kNone;  // as written in the group, or decided since
  std::int32_t priority = 0;
  Text key;  // "namespace/name"
  Uid group_uid;
  Text resource_version;
  QueueId queue;  // unset: the PodGroup names a queue that does not exist
  std::int32_t min_available = 0;
  Text queue_name;
  Text named_by_pods;  // the queue that its pods name: they count there when the group is gone
  Text priority_class;
  std::int64_t roles_min_total = 0;
  std::int64_t created_ns = 0;
  Shared<GroupExtras> more;               // see extras()
  std::unique_ptr<JobTopology> topology;  // null: neither a network topology nor subgroups are asked for

  std::vector<TaskId> tasks;
  std::vector<Role> roles;
  StatusCounts counts{};
  std::int32_t pending_best_effort = 0;
  std::int32_t gated = 0;
  std::int32_t releasing_on_node = 0;
  Sums allocated;                 // of Allocated-like tasks
  OptionalValue<Sums> pipelined;  // promised in this cycle, or an earlier one; see promised()
  std::uint64_t changes = 0;      // grows with every change of the job or its tasks
  std::uint32_t pod_changes = 0;  // grows when a pod of it comes or goes
  Text spec_text;                 // what the group was last read from, to tell changes of status from changes of wishes

  std::string_view ns() const { return key.view().substr(0, key.view().find('/')); }
  std::string_view name() const { return key.view().substr(key.view().find('/') + 1); }
  const GroupExtras& extras() const {
    static const GroupExtras kNone;
    return more ? *more : kNone;
  }
  // Null: it names none.
  const Request* min_resources() const { return more && more->has_minimum ? &more->minimum : nullptr; }
  const Sums& promised() const {
    static const Sums kNone;
    return pipelined ? *pipelined : kNone;
  }
  std::int32_t count(TaskStatus s) const { return count_of(counts, s); }
  std::int32_t task_count() const { return static_cast<std::int32_t>(tasks.size()); }
  std::int32_t allocated_count() const { return allocated_like(counts); }
  std::int32_t ready_count() const { return allocated_count() + count(TaskStatus::kSucceeded); }
  std::int32_t waiting_count() const { return count(TaskStatus::kPipelined); }
  std::int32_t releasing_count() const { return count(TaskStatus::kReleasing) + count(TaskStatus::kEvicting); }
  std::int32_t scheduled_count() const {
    return count(TaskStatus::kRunning) + count(TaskStatus::kBound) + count(TaskStatus::kFailed) +
           count(TaskStatus::kSucceeded);
  }
  std::int32_t valid_count() const { return ready_count() + waiting_count() + count(TaskStatus::kPending); }
  bool is_ready() const { return ready_count() + pending_best_effort >= min_available; }
  bool is_pipelined() const { return waiting_count() + ready_count() + pending_best_effort >= min_available; }
  bool is_starving() const { return waiting_count() + ready_count() < min_available; }
  // The group has started and is short of its minimum since.
  bool is_broken() const { return !is_pending() && allocated_count() > 0 && ready_count() < min_available; }
  // The group has not started.
  bool waits() const {
    // One without a minimum whose pods go has nothing left to wait for.
    const std::int32_t going = min_available > 0 ? 0 : releasing_count();
    return has_group && phase != GroupPhase::kCompleted && scheduled_count() + going < std::max(min_available, 1);
  }
  bool is_pending() const { return !has_group || phase == GroupPhase::kNone || phase == GroupPhase::kPending; }
  // Role minimums count only where the group's own minimum is at least their sum, and some role has one.
  bool checks_roles() const { return has_role_minimums && min_available >= roles_min_total; }
  bool has_topology_constraint() const { return topology != nullptr && topology->has_any_constraint(); }
  bool has_sub_groups() const { return topology != nullptr && !topology->policies.empty(); }
  bool roles_valid() const;
  bool roles_ready() const;
  bool roles_pipelined() const;
};
static_assert(sizeof(Job) == 296);

enum class QueueState : std::uint8_t { kOpen, kClosed, kClosing, kUnknown };

struct Queue {
  QueueId id;
  std::string name;
  bool in_use = false;  // the Queue object exists
  std::string uid;
  std::string resource_version;
  std::string spec_text;
  std::int64_t created_ns = 0;
  std::int32_t weight = 1;
  std::int32_t priority = 0;
  bool reclaimable = true;
  std::string parent;
  QueueState state = QueueState::kOpen;
  bool has_capability = false;
  Resource capability;
  Resource deserved;
  Resource guarantee;
  api::Json affinity;  // spec.affinity
  api::Json annotations;

  std::int32_t jobs = 0;  // PodGroups naming this queue
  Sums allocated;         // over its jobs: Allocated-like tasks
  Sums pipelined;
  Sums pending;
};

}  // namespace scheduler
