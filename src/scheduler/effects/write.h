// Which writes follow from a plan, and by which steps is each done?
//
// Each is a value: what was decided, and how far it has got. The meaning of its end for the model is the outbox's
// matter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>

#include "scheduler/effects/claim_steps.h"
#include "scheduler/effects/step.h"
#include "scheduler/effects/volume_steps.h"
#include "scheduler/session/plan.h"

namespace scheduler {

using client::Urgency;

// Volumes, then claims, then the lock of the node, then the binding itself.
struct PodBinding {
  PlannedBind plan;
  enum class At : std::uint8_t { kVolumes, kClaims, kNodeLock, kBind } at = At::kVolumes;
  VolumeSteps volumes{};
  ClaimSteps claims{};
  base::Duration begun{};       // uptime
  base::Duration bind_begun{};  // when everything before the binding was done
};

// The condition first, so that whoever sees the pod go knows why.
struct PodEviction {
  PlannedEviction plan;
  std::string component;
  bool reported = false;
};

struct PodStatusWrite {
  PlannedPodCondition plan;
};
struct GateRemoval {
  PlannedGateRemoval plan;
};
struct GroupStatusWrite {
  PlannedGroupStatus plan;
};
struct QueueStatusWrite {
  PlannedQueueStatus plan;
};
struct ShardStatusWrite {
  PlannedShardStatus plan;
};

// The pod was not bound: its claims are free again.
struct ClaimRelease {
  PlannedBind plan;
  std::size_t next = 0;
};

// The state of an object is asked for after a write whose outcome is unknown or refused, or whose answer came after the
// word of somebody else.
struct PodLookup {
  std::string ns;
  std::string name;
  std::string uid;
  bool of_binding = false;   // the binding is under way until it is known what became of it
  bool of_eviction = false;  // the pod counts as going until then, and not any more if it is there
  base::Duration pause{};    // before it is asked
};
struct GroupLookup {
  std::string ns;
  std::string name;
};
struct QueueLookup {
  std::string name;
};

// A write that was refused: after a while it counts as lost, and is said again where it still is to be said.
using LostStatus = std::variant<PodStatusWrite, GateRemoval, GroupStatusWrite, QueueStatusWrite, ShardStatusWrite>;
struct Retelling {
  std::string lost;  // its name among those that were lost
};

// A queue that has to exist. One that exists already is as good.
struct QueueCreation {
  std::string name;
  bool reclaimable = false;
  int tries = 0;
};
// The NumaTopology of a node that is gone. Not when another node of that name came in its place.
struct NumatopologyDeletion {
  std::string node;
  std::string uid;
  int tries = 0;
};

using Work = std::variant<PodBinding, PodEviction, PodStatusWrite, GateRemoval, GroupStatusWrite, QueueStatusWrite,
                          ShardStatusWrite, ClaimRelease, PodLookup, GroupLookup, QueueLookup, Retelling, QueueCreation,
                          NumatopologyDeletion>;

// The first step, and the one after an answer (null: after a pause).
Step begin(Work& work, const StepContext& context);
Step next(Work& work, Reply answer, const StepContext& context);

Urgency urgency_of(const Work& work);
// At most one such write of an object is made in kCountsPeriod.
bool is_paced(const Work& work);
// How long such a write waits for others that take its place.
base::Duration gather_time(const Work& work);
// Statuses: a newer one may take the place of one that waits. Then `newer` says also what only `older` said; false when
// they are not of one kind.
bool supersedes(Work& newer, const Work& older);

}  // namespace scheduler
