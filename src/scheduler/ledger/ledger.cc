// The scheduler's writes to the API server: confirmed, on their way, and lost.
#include "scheduler/ledger/ledger.h"

#include <utility>

namespace scheduler {

const PodReport Ledger::kNoPod;
const GroupReport Ledger::kNoGroup;
const QueueReport Ledger::kNoQueue;

bool Ledger::is_quiet(const Job& job, const GroupNow& now) const {
  const GroupReport& reported = group(job.id);
  return reported.trouble == now.trouble && !now.has_conditions && reported.status.phase == job.phase &&
         (reported.refusal != 0) == now.is_refused;
}

bool Ledger::observe(TaskId id, bool is_new, std::string_view uid, std::string_view version, PodReport reports) {
  const bool counted = flights.counts(Entry::kPodStatus, uid, version);
  if (!counted && !is_new) return false;
  PodReport& reported = entry(pods_, id.index);
  const bool differs = reported.reason != reports.reason || reported.message != reports.message;
  reported = std::move(reports);
  return differs;
}

bool Ledger::observe(JobId id, bool is_new, std::string_view key, std::string_view version, GroupStatus status,
                     Symbol domain) {
  const bool counted = flights.counts(Entry::kGroup, key, version);
  if (!counted && !is_new) return false;
  GroupReport& reported = entry(groups_, id.index);
  if (is_new) reported = {};
  const bool differs = !is_same_status(status, reported.status);
  reported.status = std::move(status);
  reported.domain = domain;
  return differs;
}

bool Ledger::observe(QueueId id, std::string_view name, std::string_view version, api::ResourceList allocated) {
  if (!flights.counts(Entry::kQueue, name, version)) return false;
  QueueReport& reported = entry(queues_, id.index);
  const bool differs = reported.allocated != allocated;
  reported = {std::move(allocated), true};
  return differs;
}

bool Ledger::observe(NodeShard shard, std::string_view name, std::string_view version) {
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
  QueueReport& reported = entry(queues_, id.index);
  reported.is_known = false;
  for (const std::string& resource : gone) reported.allocated.try_emplace(resource);
  flights.doubt(Entry::kQueue, name);
}

}  // namespace scheduler
