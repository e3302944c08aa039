// The scheduler's writes to the API server: confirmed, on their way, and lost.
#include "scheduler/ledger/ledger.h"

#include <utility>

namespace scheduler {

const PodSays Ledger::kNoPod;
const GroupSays Ledger::kNoGroup;
const QueueSays Ledger::kNoQueue;

bool Ledger::is_quiet(const Job& job, const GroupNow& now) const {
  const GroupSays& said = group(job.id);
  return said.trouble == now.trouble && !now.has_conditions && said.status.phase == job.phase &&
         (said.refusal != 0) == now.is_refused;
}

bool Ledger::hear(TaskId id, bool is_new, std::string_view uid, std::string_view version, PodSays says) {
  const bool counted = flights.counts(Entry::kPodStatus, uid, version);
  if (!counted && !is_new) return false;
  PodSays& said = entry(pods_, id.index);
  const bool differs = said.reason != says.reason || said.message != says.message;
  said = std::move(says);
  return differs;
}

bool Ledger::hear(JobId id, bool is_new, std::string_view key, std::string_view version, GroupStatus status,
                  Symbol domain) {
  const bool counted = flights.counts(Entry::kGroup, key, version);
  if (!counted && !is_new) return false;
  GroupSays& said = entry(groups_, id.index);
  if (is_new) said = {};
  const bool differs = !says_the_same(status, said.status);
  said.status = std::move(status);
  said.domain = domain;
  return differs;
}

bool Ledger::hear(QueueId id, std::string_view name, std::string_view version, api::ResourceList allocated) {
  if (!flights.counts(Entry::kQueue, name, version)) return false;
  QueueSays& said = entry(queues_, id.index);
  const bool differs = said.allocated != allocated;
  said = {std::move(allocated), true};
  return differs;
}

bool Ledger::hear(NodeShard shard, std::string_view name, std::string_view version) {
  const bool counted = flights.counts(Entry::kShard, name, version);
  if (counted)
    shard_ = std::move(shard);
  else if (shard_)
    shard_->desired = std::move(shard.desired);  // others write that
  return counted;
}

void Ledger::forget_pod(TaskId id, std::string_view uid) {
  entry(pods_, id.index) = {};
  flights.forget(Entry::kPodStatus, uid);
}

void Ledger::forget_group(JobId id, std::string_view key) {
  eviction_rounds.erase(id);
  entry(groups_, id.index) = {};
  flights.forget(Entry::kGroup, key);
}

void Ledger::forget_queue(QueueId id, std::string_view name) {
  entry(queues_, id.index) = {};
  flights.forget(Entry::kQueue, name);
}

void Ledger::lose_pod(TaskId id, std::string_view uid) {
  if (flights.is_under_way(Entry::kPodStatus, uid)) return;  // a later write says it all
  entry(pods_, id.index) = {};
  flights.doubt(Entry::kPodStatus, uid);
}

void Ledger::lose_queue(QueueId id, std::string_view name, const std::vector<std::string>& gone) {
  if (flights.is_under_way(Entry::kQueue, name)) return;
  QueueSays& said = entry(queues_, id.index);
  said.is_known = false;
  for (const std::string& resource : gone) said.allocated.try_emplace(resource);
  flights.doubt(Entry::kQueue, name);
}

}  // namespace scheduler
