// Are the evictions that an action planned for a group made?
#include "scheduler/actions/eviction_commit.h"

#include <algorithm>

#include "scheduler/actions/eviction_oracle.h"
#include "scheduler/actions/eviction_reasons.h"
#include "scheduler/actions/victims.h"
#include "scheduler/model/whole_groups.h"
#include "scheduler/session/eviction_rounds.h"

namespace scheduler {

EvictionPlans::Parts EvictionPlans::parts_since(Journal::Mark mark) const {
  Parts out;
  for (const Saved& one : session_.journal().saved_since(mark)) {
    (one.kind == Saved::Kind::kEvict ? out.evictions : out.places).push_back(one);
  }
  return out;
}

// A pod of the plan could be somewhere else, too, or in another's place.
bool EvictionPlans::can_move(const std::vector<Saved>& places) const {
  const Task& first = model_.task(places.front().task);
  const bool are_alike = std::all_of(places.begin(), places.end(),
                                     [&](const Saved& one) { return model_.task(one.task).shape == first.shape; });
  return !are_alike || some_node_has_room(session_.model(), first);
}

// On its node where it still fits there, or else on any.
bool EvictionPlans::place_again(const Saved& place) {
  const Task& task = model_.task(place.task);
  const QueueId queue = model_.job(task.job).queue;
  if (!session_.ask<Allocatable>(model_.queue(queue), task) || session_.ask<PrePredicate>(task)) return false;
  if (fits_future(session_.model(), task, place.node) && session_.search().fits_filters(task, place.node))
    return session_.journal().pipeline(task.id, place.node, true);
  FitErrors ignored;
  const auto found = session_.search().find(task, nullptr, ignored);
  return found && session_.journal().pipeline(task.id, found->node, true);
}

// True: the plan without these evictions is in the journal. False: the plan as it was.
bool EvictionPlans::works_without(JobId job, Journal::Mark mark, const Parts& parts,
                                  const std::vector<TaskId>& spared) {
  const std::vector<Saved> before = session_.journal().saved_since(mark);
  budget_.spend(static_cast<std::int64_t>(4 * before.size()));
  session_.journal().rollback(mark);
  bool works = true;
  for (const Saved& one : parts.evictions) {
    const bool stays = std::find(spared.begin(), spared.end(), one.task) != spared.end();
    if (!stays) works = works && session_.journal().replay({one});
  }
  for (const Saved& one : parts.places) works = works && place_again(one);
  if (works && session_.ask<JobPipelined>(model_.job(job))) return true;
  session_.journal().rollback(mark);
  session_.journal().replay(before);
  return false;
}

void EvictionPlans::spare(JobId job, Journal::Mark mark) {
  has_spared_ = false;
  Parts parts = parts_since(mark);
  if (parts.places.empty() || parts.evictions.empty()) return;
  // Without room anywhere a victim that stays has its place, and no other.
  const bool moves = can_move(parts.places);
  std::vector<TaskId> evicted;
  for (const Saved& one : parts.evictions) evicted.push_back(one.task);
  std::vector<std::pair<EvictionCost, std::vector<TaskId>>> victims;
  for (std::vector<TaskId>& unit : units_of(model_, evicted)) victims.emplace_back(costs_.of(unit), std::move(unit));
  std::stable_sort(victims.begin(), victims.end(), [](const auto& a, const auto& b) { return b.first < a.first; });
  for (const auto& [cost, unit] : victims) {
    if (budget_.is_spent()) return;
    const bool has_room = std::all_of(unit.begin(), unit.end(), [this](TaskId id) {
      return fits_future(model_, model_.task(id), model_.task(id).node);
    });
    if (!moves && !has_room) continue;
    if (!works_without(job, mark, parts, unit)) continue;
    parts = parts_since(mark);
    has_spared_ = true;
  }
}

// Filters that look at other nodes were asked while the plan was made; now they see all of it. Pods are placed once
// more, in their order, on what the evictions leave.
bool EvictionPlans::is_proven(JobId job, Journal::Mark mark) {
  const Parts parts = parts_since(mark);
  const bool is_plain = std::all_of(parts.places.begin(), parts.places.end(), [&](const Saved& one) {
    return session_.search().is_node_by_node(model_.task(one.task));
  });
  if (is_plain || parts.evictions.empty()) return true;
  session_.journal().rollback(mark);
  for (const Saved& one : parts.evictions) session_.journal().replay({one});
  for (const Saved& one : parts.places) {
    const Task& task = model_.task(one.task);
    if (!fits_future(session_.model(), task, one.node) || !session_.search().fits_filters(task, one.node) ||
        !session_.journal().replay({one})) {
      session_.journal().rollback(mark);
      return false;
    }
  }
  return session_.ask<JobPipelined>(model_.job(job));
}

// Actions of the configuration would take the room from pods of the plan for the victim, which comes again.
bool EvictionPlans::may_take(const Task& victim, const std::vector<TaskId>& there) const {
  const Config& config = session_.input().config;
  const Queue& own = model_.queue(model_.job(victim.job).queue);
  const Queue& other = model_.queue(model_.job(model_.task(there.front()).job).queue);
  const auto suffices = [&](const std::vector<TaskId>& go) {
    return !go.empty() && victims_suffice(session_, victim, victim.node, go);
  };
  if (own.id == other.id) return config.has_action("preempt") && suffices(session_.ask<Preemptable>(victim, there));
  if (!other.reclaimable || session_.ask<Overused>(own)) return false;
  if (!session_.ask<Preemptive>(own, std::vector<TaskId>{victim.id})) return false;
  if (config.has_action("reclaim") && suffices(session_.ask<Reclaimable>(victim, there))) return true;
  const GangEviction eviction{victim.job, EvictPurpose::kGangReclaim};
  return config.has_action("gangreclaim") && suffices(session_.ask<UnifiedEvictable>(eviction, there));
}

bool EvictionPlans::takes_back(const Saved& victim, const std::vector<Saved>& places) const {
  const Task& task = model_.task(victim.task);
  if (!task.job.is_set() || task.never_preempts || !session_.ask<JobStarving>(model_.job(task.job))) return false;
  const QueueId queue = model_.job(task.job).queue;
  if (!queue.is_set() || !model_.queue(queue).in_use) return false;
  std::vector<TaskId> there;
  for (const Saved& one : places) {
    if (one.node == task.node && model_.task(one.task).preemptable) there.push_back(one.task);
  }
  return !there.empty() && may_take(task, there);
}

bool EvictionPlans::allocate_follows() const {
  const std::vector<std::string>& actions = session_.input().config.actions;
  const auto own = std::find(actions.begin(), actions.end(), action_);
  return std::find(own, actions.end(), "allocate") != actions.end();
}

bool EvictionPlans::settle(JobId job, Journal::Mark mark, Spare spares) {
  if (spares == Spare::kWhomItCan) spare(job, mark);
  if (parts_since(mark).evictions.empty() && allocate_follows()) {
    session_.journal().rollback(mark);
    return false;
  }
  const auto refuse = [&](std::string_view why) {
    session_.journal().rollback(mark);
    report_evictions(session_, job, why);
    return false;
  };
  if (!is_proven(job, mark)) return refuse("its pods would not all fit once the pods in their way are gone");
  const Parts parts = parts_since(mark);
  for (const Saved& one : parts.evictions) {
    if (takes_back(one, parts.places)) return refuse("the pods that could go would take their room back by right");
  }
  // Groups that end in a domain go whole.
  const bool are_split = spares == Spare::kWhomItCan;
  if (session_.input().proves_rollbacks && !budget_.is_spent() && are_split) hold_against_sparing(session_, job, mark);
  const std::size_t first = session_.plan().evictions.size();
  session_.journal().commit(mark);
  if (session_.problems().find(job) != nullptr) session_.problems().of(job).evictions.clear();
  begin_eviction_round(session_, job, first);
  return true;
}

}  // namespace scheduler
