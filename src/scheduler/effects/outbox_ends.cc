// The consequences of a write's end. The model and the ledger hear what became of it.
#include <algorithm>

#include "api/meta/resource.h"
#include "base/format.h"
#include "base/log.h"
#include "scheduler/effects/outbox_requests.h"
#include "scheduler/effects/outbox_state.h"
#include "scheduler/effects/retry.h"

namespace scheduler {
namespace {

std::string version_in(Reply answer) {
  return answer != nullptr && answer->ok() ? std::string(api::resource_version_of(**answer)) : std::string();
}

bool is_done(const Step& end) { return end.kind == Step::Kind::kDone; }
// Refused for good, though the object is still there.
bool is_refused(const Step& end) { return !is_done(end) && !is_overtaken(end.error.code); }
// The server has answered, and would answer the same if it was asked at once.
base::Duration pause_after(const Step& end) {
  const bool is_lost = end.error.code == base::Code::kUnavailable || end.error.code == base::Code::kTimeout;
  return is_refused(end) && !is_lost ? kRefusedPause : base::Duration{};
}

std::string key_of(const LostStatus& lost) {
  struct Names {
    std::string operator()(const PodStatusWrite& one) const { return one.plan.uid; }
    std::string operator()(const GateRemoval& one) const { return one.plan.uid; }
    std::string operator()(const GroupStatusWrite& one) const { return one.plan.ns + "/" + one.plan.name; }
    std::string operator()(const QueueStatusWrite& one) const { return one.plan.name; }
    std::string operator()(const ShardStatusWrite& one) const { return one.plan.name; }
  };
  return base::format("{} {}", lost.index(), std::visit(Names{}, lost));
}

}  // namespace

void Outbox::State::ended(Work work, const Step& end, Reply answer) {
  std::visit([&](auto& write) { ended(write, end, answer); }, work);
}

void Outbox::State::superseded(const Work& work) {
  if (const auto* pod = std::get_if<PodStatusWrite>(&work)) ledger.flights.end(Entry::kPodStatus, pod->plan.uid);
  if (const auto* group = std::get_if<GroupStatusWrite>(&work))
    ledger.flights.end(Entry::kGroup, group->plan.ns + "/" + group->plan.name);
  if (const auto* queue = std::get_if<QueueStatusWrite>(&work)) ledger.flights.end(Entry::kQueue, queue->plan.name);
  if (const auto* shard = std::get_if<ShardStatusWrite>(&work)) ledger.flights.end(Entry::kShard, shard->plan.name);
}

void Outbox::State::note_stage(const PlannedBind& plan, std::string_view stage, base::Duration since) const {
  const bool nothing_to_prepare = plan.volumes.empty() && plan.claims.empty();
  if (options.on_stage && !(stage == "PreBound" && nothing_to_prepare))
    options.on_stage(plan, stage, env.uptime() - since);
}

void Outbox::State::write_condition(PlannedPodCondition condition) {
  ledger.flights.begin(Entry::kPodStatus, condition.uid);
  submit(PodStatusWrite{std::move(condition)});
}

void Outbox::State::ended(PodBinding& write, const Step& end, Reply) {
  const PlannedBind& plan = write.plan;
  ledger.binding_waits.erase(plan.ns + "/" + plan.pod);
  if (is_done(end)) {
    ledger.flights.end(Entry::kBinding, plan.uid);
    note_stage(plan, "Bound", write.bind_begun);
    record(object_head("v1", "Pod", plan.ns, plan.pod, plan.uid),
           {"Normal", "Scheduled", base::format("Successfully assigned {}/{} to {}", plan.ns, plan.pod, plan.node)});
    return;
  }
  if (!plan.claims.empty() && write.at >= PodBinding::At::kClaims) submit(ClaimRelease{plan});
  const bool was_tried = write.at == PodBinding::At::kBind;
  const bool is_over = intake.pod_is_over(plan.ns + "/" + plan.pod, plan.uid);  // then there is nobody to tell
  if (!is_over && (!was_tried || is_refused(end))) {
    std::string message = was_tried ? base::format("failed to bind to node {}: {}", plan.node, end.error.message)
                                    : base::format("execute preBind for pod {}/{} failed: {}, resync the task", plan.ns,
                                                   plan.pod, end.error.message);
    intake.pod_told(plan.ns + "/" + plan.pod, plan.uid, "SchedulerError", message);
    write_condition({plan.ns, plan.pod, plan.uid, "SchedulerError", std::move(message), ""});
  }
  submit(PodLookup{.ns = plan.ns, .name = plan.pod, .uid = plan.uid, .of_binding = true, .pause = pause_after(end)});
}

void Outbox::State::ended(PodEviction& write, const Step& end, Reply) {
  if (is_done(end)) return;
  const PlannedEviction& plan = write.plan;
  // Webhooks refuse as "conflict" or "not found", too, and then the pod stays, and would be evicted again at once.
  const base::Duration pause = is_overtaken(end.error.code) ? kRefusedPause : pause_after(end);
  submit(PodLookup{.ns = plan.ns, .name = plan.pod, .uid = plan.uid, .of_eviction = true, .pause = pause});
}

void Outbox::State::ended(PodStatusWrite& write, const Step& end, Reply answer) {
  const PlannedPodCondition& plan = write.plan;
  const bool missed = ledger.flights.end(Entry::kPodStatus, plan.uid, version_in(answer));
  if (!is_done(end)) ledger.flights.doubt(Entry::kPodStatus, plan.uid);
  if (is_refused(end)) return note_lost(std::move(write));
  if (missed || !is_done(end)) submit(PodLookup{plan.ns, plan.pod, plan.uid});
}

void Outbox::State::ended(GateRemoval& write, const Step& end, Reply answer) {
  const PlannedGateRemoval& plan = write.plan;
  if (is_refused(end)) {
    base::log_warning(
        "scheduler", base::format("the gate of pod {}/{} cannot be removed: {}", plan.ns, plan.pod, end.error.message));
    return note_lost(std::move(write));
  }
  ledger.flights.end(Entry::kGate, plan.uid);
  if (is_done(end)) intake.set_answer(api::resources::kPods, **answer);
  on_change();
}

void Outbox::State::ended(GroupStatusWrite& write, const Step& end, Reply answer) {
  const PlannedGroupStatus& plan = write.plan;
  const std::string key = plan.ns + "/" + plan.name;
  const bool missed = ledger.flights.end(Entry::kGroup, key, version_in(answer));
  if (is_done(end)) intake.set_answer(api::resources::kPodGroups, **answer);
  if (is_done(end) && !missed) return;
  if (!is_done(end)) ledger.flights.doubt(Entry::kGroup, key);
  if (is_refused(end)) return note_lost(std::move(write));
  submit(GroupLookup{plan.ns, plan.name});
}

void Outbox::State::ended(QueueStatusWrite& write, const Step& end, Reply answer) {
  const bool missed = ledger.flights.end(Entry::kQueue, write.plan.name, version_in(answer));
  if (!is_done(end)) ledger.flights.doubt(Entry::kQueue, write.plan.name);
  if (is_refused(end)) return note_lost(std::move(write));
  if (missed || !is_done(end)) submit(QueueLookup{write.plan.name});
}

void Outbox::State::ended(ShardStatusWrite& write, const Step& end, Reply answer) {
  ledger.flights.end(Entry::kShard, write.plan.name, version_in(answer));
  if (!is_done(end)) ledger.flights.doubt(Entry::kShard, write.plan.name);
  if (is_refused(end)) return note_lost(std::move(write));
  // A claim that rests on a version which is gone is made again once the watch shows the next one, or after a while.
  // Until then nothing is known: the next one may be this very claim, whose first answer was lost.
  const bool is_conflict = !write.plan.version.empty() && !is_done(end) && end.error.code == base::Code::kConflict;
  if (is_conflict && intake.shard_version() == write.plan.version) {
    note_lost(std::move(write));
  } else {
    if (!is_done(end) && !is_conflict) ledger.lose_shard();
    intake.shard_write_ended();
  }
  on_change();
}

void Outbox::State::ended(PodLookup& write, const Step&, Reply answer) {
  const std::string key = write.ns + "/" + write.name;
  if (write.of_binding) ledger.flights.end(Entry::kBinding, write.uid);
  if (answer->ok() && api::uid_of(**answer) == write.uid) {
    const bool binds = ledger.flights.is_under_way(Entry::kBinding, write.uid);
    const bool goes = !(**answer)["metadata"]["deletionTimestamp"].is_null();
    if (write.of_eviction && !goes) intake.eviction_failed(key, write.uid);
    if (!binds && (**answer)["spec"]["nodeName"].as_string().empty()) intake.bind_failed(key, write.uid);
    intake.set_answer(api::resources::kPods, **answer);
  } else {
    intake.remove(api::resources::kPods, object_head("v1", "Pod", write.ns, write.name, write.uid));
    ledger.flights.forget(Entry::kPodStatus, write.uid);  // the model may not know the pod any more
  }
  on_change();
}

// The model believed a status that could not be written: the server's word counts.
void Outbox::State::ended(GroupLookup& write, const Step&, Reply answer) {
  if (answer->ok()) {
    intake.forget_group_version(write.ns + "/" + write.name);
    intake.set_answer(api::resources::kPodGroups, **answer);
  } else if (answer->error().code == base::Code::kNotFound) {
    ledger.flights.forget(Entry::kGroup, write.ns + "/" + write.name);
  }
  on_change();
}

void Outbox::State::ended(QueueLookup& write, const Step&, Reply answer) {
  if (answer->ok())
    intake.set_answer(api::resources::kQueues, **answer);
  else if (answer->error().code == base::Code::kNotFound)
    ledger.flights.forget(Entry::kQueue, write.name);
  on_change();
}

// Once for each object and field, however many writes of it are lost meanwhile.
void Outbox::State::note_lost(LostStatus lost) {
  const std::string key = key_of(lost);
  if (const auto known = retellings.find(key); known != retellings.end()) {
    auto& before = std::get<Retelling>(writes.at(known->second).work).lost;
    auto* queue = std::get_if<QueueStatusWrite>(&lost);
    auto* queue_before = std::get_if<QueueStatusWrite>(&before);
    if (queue != nullptr && queue_before != nullptr)
      queue_before->plan.gone.insert(queue_before->plan.gone.end(), queue->plan.gone.begin(), queue->plan.gone.end());
    return;
  }
  retellings.emplace(key, last_id + 1);
  submit(Retelling{std::move(lost)});
}

void Outbox::State::ended(Retelling& write, const Step&, Reply) {
  retellings.erase(key_of(write.lost));
  if (const auto* pod = std::get_if<PodStatusWrite>(&write.lost))
    intake.pod_status_lost(pod->plan.ns + "/" + pod->plan.pod, pod->plan.uid);
  if (const auto* gate = std::get_if<GateRemoval>(&write.lost)) ledger.flights.end(Entry::kGate, gate->plan.uid);
  if (const auto* queue = std::get_if<QueueStatusWrite>(&write.lost))
    intake.queue_status_lost(queue->plan.name, queue->plan.gone);
  if (const auto* shard = std::get_if<ShardStatusWrite>(&write.lost)) {
    const bool is_open = ledger.flights.is_under_way(Entry::kShard, shard->plan.name);
    if (!is_open && ledger.flights.is_doubtful(Entry::kShard, shard->plan.name)) ledger.lose_shard();
  }
  if (const auto* group = std::get_if<GroupStatusWrite>(&write.lost))
    return submit(GroupLookup{group->plan.ns, group->plan.name});
  on_change();
}

void Outbox::State::ended(NumatopologyDeletion& write, const Step& end, Reply) {
  if (is_done(end)) return;
  base::log_error("scheduler",
                  base::format("the Numatopology of node {} cannot be deleted: {}", write.node, end.error.message));
}

}  // namespace scheduler
