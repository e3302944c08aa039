// May pods be evicted for a group once more?
#include "scheduler/session/eviction_rounds.h"

#include <algorithm>
#include <utility>

#include "scheduler/ledger/ledger.h"
#include "scheduler/model/core/digest.h"
#include "scheduler/model/missing_claim.h"

namespace scheduler {
namespace {

enum class Going : std::uint8_t { kGone, kLeaves, kStays };

// The pod is gone, and its claims are still reserved for it.
bool holds_claims(const Model& model, const EvictionRound::Victim& victim) {
  return std::any_of(victim.claims.begin(), victim.claims.end(), [&](const std::string& key) {
    const ResourceClaim* claim = model.claims.find_claim(key);
    return claim != nullptr &&
           std::find(claim->reserved_for.begin(), claim->reserved_for.end(), victim.uid) != claim->reserved_for.end();
  });
}

Going state_of(const Model& model, const EvictionRound::Victim& victim) {
  const TaskId id = model.find_task(victim.key);
  if (!id.is_set() || model.text(id).uid != victim.uid || is_terminated(model.task(id).status))
    return holds_claims(model, victim) ? Going::kLeaves : Going::kGone;
  return is_releasing(model.task(id).status) ? Going::kLeaves : Going::kStays;
}

// A pod that came to one of the nodes since then belongs to a group without a part in the round.
bool others_came(const Model& model, const Job& job, const EvictionRound& round) {
  if (round.has_unknown_groups || round.has_unknown_nodes) return false;
  return std::any_of(round.nodes.begin(), round.nodes.end(), [&](const std::string& name) {
    const NodeId node = model.nodes.find(name);
    if (!node.is_set()) return true;
    const std::vector<TaskId>& tasks = model.nodes[node].tasks;
    return std::any_of(tasks.begin(), tasks.end(), [&](TaskId id) {
      const Task& task = model.task(id);
      if (task.job == job.id || !is_allocated_like(task.status)) return false;
      const std::int64_t started = model.details.started_ns(id);
      const bool is_new = task.status == TaskStatus::kBinding || task.created_ns > round.at.ns || started > round.at.ns;
      return is_new && (!task.job.is_set() || !round.groups.contains(model.job(task.job).key.str()));
    });
  });
}

std::uint64_t digest_of_group(const Model& model, const Job& job) {
  std::vector<std::string> uids;
  for (const TaskId id : job.tasks) uids.push_back(model.text(id).uid.str());
  std::sort(uids.begin(), uids.end());
  Digest out;
  out.add(job.group_uid.str());
  out.add(job.spec_text.view());
  for (const std::string& one : uids) out.add(one);
  return out.value();
}

std::uint64_t digest_of_queues(const Model& model) {
  Digest out;
  for (std::uint32_t q = 0; q < model.queue_count(); ++q) {
    const Queue& queue = model.queue(QueueId{q});
    if (!queue.in_use) continue;
    out.add(queue.name);
    out.add(queue.spec_text);
    out.add(static_cast<std::uint64_t>(queue.state));
  }
  return out.value();
}

std::uint64_t digest_of_all(const Model& model, const Job& job) {
  Digest out;
  out.add(digest_of_group(model, job));
  out.add(digest_of_queues(model));
  out.add(model.nodes.facts_digest());
  return out.value();
}

bool has_changed(const Model& model, const Job& job, const EvictionRound& round) {
  if (round.state != 0) return round.state != digest_of_all(model, job) || others_came(model, job, round);
  return round.node_facts != model.nodes.static_generation() || round.group_digest != digest_of_group(model, job) ||
         round.queues_digest != digest_of_queues(model) || others_came(model, job, round);
}

}  // namespace

bool may_evict_for(Session& session, JobId id) {
  const auto found = session.input().ledger.eviction_rounds.find(id);
  if (found == session.input().ledger.eviction_rounds.end()) return true;
  const Model& model = session.model();
  const Job& job = model.job(id);
  EvictionRound& round = found->second;
  std::size_t leaving = 0, staying = 0;
  for (const EvictionRound::Victim& one : round.victims) {
    const Going going = state_of(model, one);
    leaving += going == Going::kLeaves ? 1 : 0;
    staying += going == Going::kStays ? 1 : 0;
  }
  if (staying > 0 || job.ready_count() >= round.ready || has_changed(model, job, round)) {
    session.input().ledger.eviction_rounds.erase(found);
    return true;
  }
  if (round.text.empty()) round.text = Text(text_of(round, digest_of_all(model, job)));
  // Each action asks; the answer is told once.
  session.problems().of(id).evictions =
      leaving > 0
          ? "pods that were evicted for it are leaving"
          : "pods were evicted for it and it found no place: no others are until the group, queues or nodes change";
  return false;
}

bool comes_first(const Model& model, EvictionRounds& rounds, JobId id) {
  const auto found = rounds.find(id);
  if (found == rounds.end()) return false;
  EvictionRound& round = found->second;
  if (model.job(id).ready_count() >= round.ready) {
    rounds.erase(found);
    return false;
  }
  const bool are_gone = std::all_of(round.victims.begin(), round.victims.end(),
                                    [&](const auto& one) { return state_of(model, one) == Going::kGone; });
  return !are_gone || !std::exchange(round.had_its_turn, true);
}

bool is_beneficiary(const Session& session, JobId id) {
  return comes_first(session.model(), session.input().ledger.eviction_rounds, id);
}

void begin_eviction_round(Session& session, JobId id, std::size_t first) {
  const std::vector<PlannedEviction>& evictions = session.plan().evictions;
  if (first >= evictions.size()) return;
  const Model& model = session.model();
  const Job& job = model.job(id);
  EvictionRound& round = session.input().ledger.eviction_rounds[id];
  round = {};
  std::set<std::string> nodes;
  for (std::size_t i = first; i < evictions.size(); ++i) {
    std::string key = evictions[i].ns + "/" + evictions[i].pod;
    const TaskId victim = model.find_task(key);
    std::vector<std::string> claims;
    if (victim.is_set()) claims = claims_used_by(model.shape_of(model.task(victim)));
    round.victims.push_back({std::move(key), Uid(evictions[i].uid), std::move(claims)});
    round.groups.insert(evictions[i].group);
    nodes.insert(evictions[i].node);
  }
  round.nodes.assign(nodes.begin(), nodes.end());
  round.at = session.input().now;
  round.ready = job.ready_count() + job.waiting_count();
  round.group_digest = digest_of_group(model, job);
  round.queues_digest = digest_of_queues(model);
  round.node_facts = model.nodes.static_generation();
}

}  // namespace scheduler
