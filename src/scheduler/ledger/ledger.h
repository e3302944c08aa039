// The scheduler's writes to the API server: confirmed, on their way, and lost.
//
// For each field that the scheduler writes there is one entry here: what the object says, as last written or read.
// A cycle compares with it what it would say, and writes the difference; what is planned counts as said at once. A
// write that is under way is believed until it has ended, and its answer until the watch has caught up with it. A write
// that was lost leaves its entry unknown, so that it is said again.
//
// Owned by the scheduler; loop thread only.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "api/schema/quantity.h"
#include "base/time.h"
#include "scheduler/framework/wait_reason.h"
#include "scheduler/ledger/eviction_round.h"
#include "scheduler/ledger/flights.h"
#include "scheduler/model/core/group_status.h"
#include "scheduler/model/core/ids.h"
#include "scheduler/model/core/job.h"
#include "scheduler/model/core/text.h"
#include "scheduler/model/nodes/node_shards.h"

namespace scheduler {

// A pod's condition PodScheduled=False (empty reason: none) and the node nominated for it.
struct PodReport {
  Text reason;
  Text message;
  Text nominated_node;
  bool operator==(const PodReport&) const = default;
};

struct GroupReport {
  GroupStatus status;
  Symbol domain;  // annotation volcano.sh/job-allocated-hypernode; unset: none
  Text round;     // annotation volcano.sh/eviction-round
  Text event;     // the text last told in an event: why it waits, or that it is ready
  Text why;       // the sentence last told, and the digest of what it says; 0: none was
  std::uint64_t why_digest = 0;
  std::uint64_t refusal = 0;  // digest of what admission said at the last close; 0: it did not refuse
  std::uint64_t trouble = 0;  // digest of what its tries met, at the last close; 0: no trouble
  // Job::pod_changes as the last close saw it, and since when it is so.
  std::uint32_t pod_changes = 0;
  base::Time unchanged_since;
};

struct QueueReport {
  api::ResourceList allocated;
  bool is_known = true;  // false: what was written last did not arrive
};

class Ledger {
 public:
  // --- what objects say ---
  const PodReport& pod(TaskId id) const { return id.index < pods_.size() ? pods_[id.index] : kNoPod; }
  const GroupReport& group(JobId id) const { return id.index < groups_.size() ? groups_[id.index] : kNoGroup; }
  const QueueReport& queue(QueueId id) const { return id.index < queues_.size() ? queues_[id.index] : kNoQueue; }
  // The status of this scheduler's own NodeShard; unset: unknown.
  const std::optional<NodeShard>& shard() const { return shard_; }

  // A cycle says this from now on, and plans the write.
  void record(TaskId id, PodReport reports) { entry(pods_, id.index) = std::move(reports); }
  GroupReport& edit_group(JobId id) { return entry(groups_, id.index); }
  void record(QueueId id, api::ResourceList allocated) { entry(queues_, id.index) = {std::move(allocated), true}; }
  void record(NodeShard shard) { shard_ = std::move(shard); }

  // Facts of a group that may change without a change of its pods or of its PodGroup.
  struct GroupNow {
    std::uint64_t trouble = 0;  // digest; 0: none
    bool is_refused = false;
    bool has_conditions = false;  // some were set
  };
  // True if all of that was said at the group's last close: saying it again would change nothing.
  bool is_quiet(const Job& job, const GroupNow& now) const;

  // --- what the server says ---
  // It counts unless a write of ours is under way, or was answered with a later version. True when it differs from what
  // was said here, that is, when somebody else wrote. `is_new`: nobody has told this object anything.
  bool observe(TaskId id, bool is_new, std::string_view uid, std::string_view version, PodReport reports);
  bool observe(JobId id, bool is_new, std::string_view key, std::string_view version, GroupStatus status,
               Symbol domain);
  bool observe(QueueId id, std::string_view name, std::string_view version, api::ResourceList allocated);
  // True when it counts.
  bool observe(NodeShard shard, std::string_view name, std::string_view version);
  void forget_pod(TaskId id, std::string_view uid);
  void forget_group(JobId id, std::string_view key);
  void forget_queue(QueueId id, std::string_view name);

  // --- what was lost ---
  void lose_pod(TaskId id, std::string_view uid);
  // `gone`: resources that should have been taken away, and are there still.
  void lose_queue(QueueId id, std::string_view name, const std::vector<std::string>& gone);
  void lose_shard() { shard_.reset(); }

  // Writes that are under way, and what became of them.
  Flights flights;
  // Groups that lack pods and are not told so yet, and when they will be if no pod comes or goes.
  std::map<JobId, base::Time> arriving;
  // Sentences about pods that have a node and wait for something before they can be bound: by "ns/name" of the pod.
  std::map<std::string, std::string> binding_waits;
  // For whom pods were evicted, until the group has its places or something changes.
  std::map<JobId, EvictionRound> eviction_rounds;
  // Why each waiting group waits, as of the last cycle that looked at it: what people are told who ask.
  std::unordered_map<JobId, WaitReason> reasons;

 private:
  template <class Report>
  static Report& entry(std::vector<Report>& table, std::uint32_t index) {
    if (index >= table.size()) table.resize(index + 1);
    return table[index];
  }

  static const PodReport kNoPod;
  static const GroupReport kNoGroup;
  static const QueueReport kNoQueue;

  std::vector<PodReport> pods_;      // by TaskId
  std::vector<GroupReport> groups_;  // by JobId
  std::vector<QueueReport> queues_;  // by QueueId
  std::optional<NodeShard> shard_;
};

}  // namespace scheduler
