// Every question the scheduler puts to its plugins.
//
// One row defines one extension point: what one plugin is asked and answers, how the answers of all plugins fold into
// one, and the key of the configuration that switches a plugin's answer off. Registration, dispatch, tiers and the
// configuration's keys are derived from the rows. To add a point, add a row here and in kAllPoints.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "scheduler/framework/folds.h"
#include "scheduler/framework/votes.h"
#include "scheduler/framework/wait_reason.h"
#include "scheduler/model/core/ids.h"

namespace scheduler {

struct Job;
struct Task;
struct Queue;
class Resource;
struct SubJob;
class NodeFilter;
class NodeScorer;

// The question about a queue's limits: which of them stands against placing pods now, or against ever holding so much?
enum class LimitQuestion : std::uint8_t { kNow, kEver };

template <class SignatureType, class FoldType>
struct Point {
  using Signature = SignatureType;
  using Fold = FoldType;
};

// clang-format off
//                                 what one plugin is asked and answers                     fold              key ("": cannot be switched off; "a|b": either)
struct JobOrder           : Point<std::int64_t(const Job&),                                 SmallestFirst>    { static constexpr std::string_view kKey = "enableJobOrder"; };
struct TaskOrder          : Point<int(const Task&, const Task&),                            FirstNonZero>     { static constexpr std::string_view kKey = "enableTaskOrder"; };
struct QueueOrder         : Point<int(const Queue&, const Queue&),                          FirstNonZero>     { static constexpr std::string_view kKey = "enableQueueOrder"; };
struct VictimQueueOrder   : Point<int(const Queue&, const Queue&, const Queue&),            FirstNonZero>     { static constexpr std::string_view kKey = ""; };
struct JobReady           : Point<bool(const Job&),                                         All>              { static constexpr std::string_view kKey = "enableJobReady"; };
struct JobPipelined       : Point<Vote(const Job&),                                         TierVote>         { static constexpr std::string_view kKey = "enableJobPipelined"; };
struct JobStarving        : Point<bool(const Job&),                                         TierAll>          { static constexpr std::string_view kKey = "enableJobStarving"; };
struct JobValid           : Point<Refusal(const Job&),                                      FirstFailure>     { static constexpr std::string_view kKey = ""; };
struct JobEnqueueable     : Point<Vote(const Job&),                                         TierVote>         { static constexpr std::string_view kKey = "enableJobEnqueued"; };
struct JobEnqueued        : Point<void(const Job&),                                         NotifyAll>          { static constexpr std::string_view kKey = "enableJobEnqueued"; };
struct ReserveLapsed      : Point<void(const Job&),                                         NotifyAll>          { static constexpr std::string_view kKey = "enableJobEnqueued"; };
struct Overused           : Point<bool(const Queue&),                                       Any>              { static constexpr std::string_view kKey = "enabledOverused"; };
struct Allocatable        : Point<bool(const Queue&, const Task&),                          All>              { static constexpr std::string_view kKey = "enabledAllocatable"; };
struct QueueLimit         : Point<std::optional<Shortage>(const Queue&, const Resource&, LimitQuestion), FirstFailure> { static constexpr std::string_view kKey = ""; };
struct Preemptive         : Point<bool(const Queue&, const std::vector<TaskId>&),           All>              { static constexpr std::string_view kKey = "enablePreemptive"; };
struct ClassKey           : Point<std::uint32_t(const Task&),                               Mix>              { static constexpr std::string_view kKey = ""; };
struct PrePredicate       : Point<Refusal(const Task&),                                     FirstFailure>     { static constexpr std::string_view kKey = "enablePredicate"; };
struct Predicate          : Point<std::unique_ptr<NodeFilter>(const Task&),                 Collect>          { static constexpr std::string_view kKey = "enablePredicate"; };
struct NodeOrder          : Point<std::unique_ptr<NodeScorer>(const Task&),                 Collect>          { static constexpr std::string_view kKey = "enableNodeOrder"; };
struct Preemptable        : Point<Victims(const Task&, const std::vector<TaskId>&),         TierIntersection> { static constexpr std::string_view kKey = "enablePreemptable"; };
struct Reclaimable        : Point<Victims(const Task&, const std::vector<TaskId>&),         TierIntersection> { static constexpr std::string_view kKey = "enableReclaimable"; };
struct UnifiedEvictable   : Point<Victims(const GangEviction&, const std::vector<TaskId>&), TierIntersection> { static constexpr std::string_view kKey = ""; };
struct SubJobOrder        : Point<int(const SubJob&, const SubJob&),                        FirstNonZero>     { static constexpr std::string_view kKey = "enabledSubJobOrder"; };
struct SubJobReady        : Point<bool(const Job&, const SubJob&),                          All>              { static constexpr std::string_view kKey = "enabledSubJobReady"; };
struct SubJobPipelined    : Point<Vote(const Job&, const SubJob&),                          TierVote>         { static constexpr std::string_view kKey = "enabledSubJobPipelined"; };
struct PlacementsMissing  : Point<std::int32_t(const Job&, std::uint32_t),                  Most>             { static constexpr std::string_view kKey = ""; };
struct HyperNodeOrder     : Point<std::vector<double>(const Job&, const SubJob&, const std::vector<DomainId>&), SumLists> { static constexpr std::string_view kKey = "enabledHyperNodeOrder"; };
struct JobGradients       : Point<Gradients(const Job&, DomainId, DomainPurpose),           FirstRegistered>  { static constexpr std::string_view kKey = "enabledHyperNodeGradient"; };
struct SubJobGradients    : Point<Gradients(const Job&, const SubJob&, DomainId, DomainPurpose), FirstRegistered> { static constexpr std::string_view kKey = "enabledHyperNodeGradient"; };
struct SimulateRemoveTask : Point<bool(const Task&),                                         All>              { static constexpr std::string_view kKey = "enablePreemptable|enabledAllocatable"; };
struct SimulateAllocatable : Point<bool(const Queue&, const Task&),                         All>              { static constexpr std::string_view kKey = "enabledAllocatable"; };
struct VictimTasks        : Point<std::vector<TaskId>(const std::vector<TaskId>&),          TierUnion>        { static constexpr std::string_view kKey = "enabledVictim"; };
struct JobHeld            : Point<bool(const Job&),                                         Any>              { static constexpr std::string_view kKey = ""; };
struct TaskPlaced         : Point<Refusal(const Task&),                                     FirstFailure>     { static constexpr std::string_view kKey = ""; };
struct TaskRemoved        : Point<void(const Task&),                                        NotifyAll>          { static constexpr std::string_view kKey = ""; };
// clang-format on

using AllPoints =
    std::tuple<JobOrder, TaskOrder, QueueOrder, VictimQueueOrder, JobReady, JobPipelined, JobStarving, JobValid,
               JobEnqueueable, JobEnqueued, ReserveLapsed, Overused, Allocatable, QueueLimit, Preemptive, ClassKey,
               PrePredicate, Predicate, NodeOrder, Preemptable, Reclaimable, UnifiedEvictable, SubJobOrder, SubJobReady,
               SubJobPipelined, PlacementsMissing, HyperNodeOrder, JobGradients, SubJobGradients, SimulateRemoveTask,
               SimulateAllocatable, VictimTasks, JobHeld, TaskPlaced, TaskRemoved>;

// Keys of the configuration that belong to points without a row yet or to no point. They are accepted, as every
// configuration file in use may carry them.
inline constexpr std::string_view kOtherSwitches[] = {
    "enableHierarchy", "enabledClusterOrder", "enableBestNode", "enableTargetJob", "enableReservedNodes",
};

}  // namespace scheduler
