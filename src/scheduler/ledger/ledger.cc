// The scheduler's writes to the API server: confirmed, on their way, and lost.
#include "scheduler/ledger/ledger.h"

#include <charconv>
#include <utility>

namespace scheduler {

const PodSays Ledger::kNoPod;
const GroupSays Ledger::kNoGroup;
const QueueSays Ledger::kNoQueue;

bool is_newer(std::string_view version, std::string_view than) {
  std::uint64_t a = 0, b = 0;
  if (version.empty() || than.empty()) return true;
  const auto parsed_a = std::from_chars(version.data(), version.data() + version.size(), a);
  const auto parsed_b = std::from_chars(than.data(), than.data() + than.size(), b);
  if (parsed_a.ec != std::errc{} || parsed_b.ec != std::errc{}) return version != than;
  return a > b;
}

std::string Ledger::flight_key(Entry entry, std::string_view key) {
  std::string out(1, static_cast<char>('a' + static_cast<int>(entry)));
  out += key;
  return out;
}

bool Ledger::is_quiet(const Job& job, const GroupNow& now) const {
  const GroupSays& said = group(job.id);
  return said.trouble == now.trouble && !now.has_conditions && said.status.phase == job.phase &&
         (said.refusal != 0) == now.is_refused;
}

bool Ledger::counts(Entry entry, std::string_view key, std::string_view version) {
  if (flights_.empty()) return true;
  const auto found = flights_.find(flight_key(entry, key));
  if (found == flights_.end()) return true;
  if (found->second.open > 0) {
    found->second.unheard = version;
    return false;
  }
  const std::string& answered = found->second.answered;
  if (!answered.empty() && answered != version && is_newer(answered, version)) return false;
  flights_.erase(found);
  return true;
}

bool Ledger::hear(TaskId id, bool is_new, std::string_view uid, std::string_view version, PodSays says) {
  const bool counted = counts(Entry::kPodStatus, uid, version);
  if (!counted && !is_new) return false;
  PodSays& said = entry(pods_, id.index);
  const bool differs = said.reason != says.reason || said.message != says.message;
  said = std::move(says);
  return differs;
}

bool Ledger::hear(JobId id, bool is_new, std::string_view key, std::string_view version, GroupStatus status,
                  Symbol domain) {
  const bool counted = counts(Entry::kGroup, key, version);
  if (!counted && !is_new) return false;
  GroupSays& said = entry(groups_, id.index);
  if (is_new) said = {};
  const bool differs = !says_the_same(status, said.status);
  said.status = std::move(status);
  said.domain = domain;
  return differs;
}

bool Ledger::hear(QueueId id, std::string_view name, std::string_view version, api::ResourceList allocated) {
  if (!counts(Entry::kQueue, name, version)) return false;
  QueueSays& said = entry(queues_, id.index);
  const bool differs = said.allocated != allocated;
  said = {std::move(allocated), true};
  return differs;
}

bool Ledger::hear(NodeShard shard, std::string_view name, std::string_view version) {
  const bool counted = counts(Entry::kShard, name, version);
  if (counted)
    shard_ = std::move(shard);
  else if (shard_)
    shard_->desired = std::move(shard.desired);  // others write that
  return counted;
}

// Writes that are under way end by themselves.
void Ledger::forget_flight(Entry entry, std::string_view key) {
  if (flights_.empty()) return;
  const auto found = flights_.find(flight_key(entry, key));
  if (found == flights_.end()) return;
  if (found->second.open == 0)
    flights_.erase(found);
  else
    found->second.is_forgotten = true;
}

void Ledger::forget_pod(TaskId id, std::string_view uid) {
  entry(pods_, id.index) = {};
  forget_flight(Entry::kPodStatus, uid);
}

void Ledger::forget_group(JobId id, std::string_view key) {
  eviction_rounds.erase(id);
  entry(groups_, id.index) = {};
  forget_flight(Entry::kGroup, key);
}

void Ledger::forget_queue(QueueId id, std::string_view name) {
  entry(queues_, id.index) = {};
  forget_flight(Entry::kQueue, name);
}

void Ledger::begin(Entry entry, std::string_view key) {
  Flight& flight = flights_[flight_key(entry, key)];
  ++flight.open;
  flight.is_forgotten = false;
  ++open_[static_cast<std::size_t>(entry)];
}

bool Ledger::end(Entry entry, std::string_view key, std::string_view version) {
  const auto found = flights_.find(flight_key(entry, key));
  if (found == flights_.end() || found->second.open == 0) return false;
  Flight& flight = found->second;
  --open_[static_cast<std::size_t>(entry)];
  --flight.open;
  if (!version.empty() && (flight.answered.empty() || is_newer(version, flight.answered))) flight.answered = version;
  if (flight.open > 0) return false;
  const std::string unheard = std::exchange(flight.unheard, {});
  const bool missed = !unheard.empty() && !version.empty() && unheard != version && is_newer(unheard, version);
  if (flight.is_forgotten || (flight.answered.empty() && !flight.is_doubtful)) flights_.erase(found);
  return missed;
}

bool Ledger::is_under_way(Entry entry, std::string_view key) const {
  if (flights_.empty()) return false;
  const auto found = flights_.find(flight_key(entry, key));
  return found != flights_.end() && found->second.open > 0;
}

bool Ledger::is_doubtful(Entry entry, std::string_view key) const {
  const auto found = flights_.find(flight_key(entry, key));
  return found != flights_.end() && found->second.is_doubtful;
}

void Ledger::lose_pod(TaskId id, std::string_view uid) {
  if (is_under_way(Entry::kPodStatus, uid)) return;  // a later write says it all
  entry(pods_, id.index) = {};
  doubt(Entry::kPodStatus, uid);
}

void Ledger::lose_queue(QueueId id, std::string_view name, const std::vector<std::string>& gone) {
  if (is_under_way(Entry::kQueue, name)) return;
  QueueSays& said = entry(queues_, id.index);
  said.is_known = false;
  for (const std::string& resource : gone) said.allocated.try_emplace(resource);
  doubt(Entry::kQueue, name);
}

}  // namespace scheduler
