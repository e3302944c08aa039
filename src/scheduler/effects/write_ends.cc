// The consequences of a write's end: the model and the ledger hear what became of it.
#include "scheduler/effects/write_ends.h"

#include <algorithm>
#include <utility>

#include "api/meta/resource.h"
#include "base/format.h"
#include "base/log.h"
#include "scheduler/effects/outbox_requests.h"
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

void WriteEnds::ended(Work work, const Step& end, Reply answer) {
  std::visit([&](auto& write) { ended(write, end, answer); }, work);
}

void WriteEnds::superseded(const Work& work) {
  if (const auto* pod = std::get_if<PodStatusWrite>(&work)) needs_.ledger.flights.end(Entry::kPodStatus, pod->plan.uid);
  if (const auto* group = std::get_if<GroupStatusWrite>(&work))
    needs_.ledger.flights.end(Entry::kGroup, group->plan.ns + "/" + group->plan.name);
  if (const auto* queue = std::get_if<QueueStatusWrite>(&work))
    needs_.ledger.flights.end(Entry::kQueue, queue->plan.name);
  if (const auto* shard = std::get_if<ShardStatusWrite>(&work))
    needs_.ledger.flights.end(Entry::kShard, shard->plan.name);
}

void WriteEnds::report_stage(const PlannedBind& plan, std::string_view stage, base::Duration since) const {
  if (needs_.on_stage) needs_.on_stage(plan, stage, needs_.env.uptime() - since);
}

void WriteEnds::prepared(const PodBinding& write) const {
  const PlannedBind& plan = write.plan;
  const bool had_nothing_to_do = plan.volumes.empty() && plan.claims.empty();
  if (!had_nothing_to_do) report_stage(plan, "PreBound", write.begun);
}

void WriteEnds::waits(const PodBinding& write, const std::string& text) {
  const PlannedBind& plan = write.plan;
  const std::string key = plan.ns + "/" + plan.pod;
  std::string& waiting_for = needs_.ledger.binding_waits[key];
  if (waiting_for == text) return;
  waiting_for = text;
  needs_.events.record(object_head("v1", "Pod", plan.ns, plan.pod, plan.uid), {"Warning", "FailedScheduling", text});
  if (const auto group = needs_.intake.pods.group_of(key))
    needs_.events.record(object_head("scheduling.volcano.sh/v1beta1", "PodGroup", plan.ns, group->name, group->uid),
                         {"Warning", "Unschedulable", base::format("pod {}: {}", plan.pod, text)});
  needs_.intake.pods.record_condition(key, plan.uid, "WaitForVolume", text);
  write_condition({plan.ns, plan.pod, plan.uid, "WaitForVolume", text, ""});
  needs_.intake.pods.binding_waits(key);
  needs_.on_change();
}

void WriteEnds::write_condition(PlannedPodCondition condition) {
  needs_.ledger.flights.begin(Entry::kPodStatus, condition.uid);
  needs_.submit(PodStatusWrite{std::move(condition)});
}

void WriteEnds::ended(PodBinding& write, const Step& end, Reply) {
  const PlannedBind& plan = write.plan;
  needs_.ledger.binding_waits.erase(plan.ns + "/" + plan.pod);
  if (is_done(end)) {
    needs_.ledger.flights.end(Entry::kBinding, plan.uid);
    report_stage(plan, "Bound", write.bind_begun);
    needs_.events.record(
        object_head("v1", "Pod", plan.ns, plan.pod, plan.uid),
        {"Normal", "Scheduled", base::format("Successfully assigned {}/{} to {}", plan.ns, plan.pod, plan.node)});
    return;
  }
  if (!plan.claims.empty() && write.at >= PodBinding::At::kClaims) needs_.submit(ClaimRelease{plan});
  const bool was_tried = write.at == PodBinding::At::kBind;
  const bool is_over = needs_.intake.pods.is_over(plan.ns + "/" + plan.pod, plan.uid);  // then there is nobody to tell
  if (!is_over && (!was_tried || is_refused(end))) {
    std::string message = was_tried ? base::format("failed to bind to node {}: {}", plan.node, end.error.message)
                                    : base::format("execute preBind for pod {}/{} failed: {}, resync the task", plan.ns,
                                                   plan.pod, end.error.message);
    needs_.intake.pods.record_condition(plan.ns + "/" + plan.pod, plan.uid, "SchedulerError", message);
    write_condition({plan.ns, plan.pod, plan.uid, "SchedulerError", std::move(message), ""});
  }
  needs_.submit(
      PodLookup{.ns = plan.ns, .name = plan.pod, .uid = plan.uid, .of_binding = true, .pause = pause_after(end)});
}

void WriteEnds::ended(PodEviction& write, const Step& end, Reply) {
  if (is_done(end)) return;
  const PlannedEviction& plan = write.plan;
  // Webhooks refuse as "conflict" or "not found", too, and then the pod stays, and would be evicted again at once.
  const base::Duration pause = is_overtaken(end.error.code) ? kRefusedPause : pause_after(end);
  needs_.submit(PodLookup{.ns = plan.ns, .name = plan.pod, .uid = plan.uid, .of_eviction = true, .pause = pause});
}

void WriteEnds::ended(PodStatusWrite& write, const Step& end, Reply answer) {
  const PlannedPodCondition& plan = write.plan;
  const bool missed = needs_.ledger.flights.end(Entry::kPodStatus, plan.uid, version_in(answer));
  if (!is_done(end)) needs_.ledger.flights.doubt(Entry::kPodStatus, plan.uid);
  if (is_refused(end)) return record_lost(std::move(write));
  if (missed || !is_done(end)) needs_.submit(PodLookup{plan.ns, plan.pod, plan.uid});
}

void WriteEnds::ended(GateRemoval& write, const Step& end, Reply answer) {
  const PlannedGateRemoval& plan = write.plan;
  if (is_refused(end)) {
    base::log_warning(
        "scheduler", base::format("the gate of pod {}/{} cannot be removed: {}", plan.ns, plan.pod, end.error.message));
    return record_lost(std::move(write));
  }
  needs_.ledger.flights.end(Entry::kGate, plan.uid);
  if (is_done(end)) needs_.intake.set_answer(api::resources::kPods, **answer);
  needs_.on_change();
}

void WriteEnds::ended(GroupStatusWrite& write, const Step& end, Reply answer) {
  const PlannedGroupStatus& plan = write.plan;
  const std::string key = plan.ns + "/" + plan.name;
  const bool missed = needs_.ledger.flights.end(Entry::kGroup, key, version_in(answer));
  if (is_done(end)) needs_.intake.set_answer(api::resources::kPodGroups, **answer);
  if (is_done(end) && !missed) return;
  if (!is_done(end)) needs_.ledger.flights.doubt(Entry::kGroup, key);
  if (is_refused(end)) return record_lost(std::move(write));
  needs_.submit(GroupLookup{plan.ns, plan.name});
}

void WriteEnds::ended(QueueStatusWrite& write, const Step& end, Reply answer) {
  const bool missed = needs_.ledger.flights.end(Entry::kQueue, write.plan.name, version_in(answer));
  if (!is_done(end)) needs_.ledger.flights.doubt(Entry::kQueue, write.plan.name);
  if (is_refused(end)) return record_lost(std::move(write));
  if (missed || !is_done(end)) needs_.submit(QueueLookup{write.plan.name});
}

void WriteEnds::ended(ShardStatusWrite& write, const Step& end, Reply answer) {
  needs_.ledger.flights.end(Entry::kShard, write.plan.name, version_in(answer));
  if (!is_done(end)) needs_.ledger.flights.doubt(Entry::kShard, write.plan.name);
  if (is_refused(end)) return record_lost(std::move(write));
  // A claim that rests on a version which is gone is made again once the watch shows the next one, or after a while.
  // Until then nothing is known: the next one may be this very claim, whose first answer was lost.
  const bool is_conflict = !write.plan.version.empty() && !is_done(end) && end.error.code == base::Code::kConflict;
  if (is_conflict && needs_.intake.shard.version() == write.plan.version) {
    record_lost(std::move(write));
  } else {
    if (!is_done(end) && !is_conflict) needs_.ledger.lose_shard();
    needs_.intake.shard.write_ended();
  }
  needs_.on_change();
}

void WriteEnds::ended(PodLookup& write, const Step&, Reply answer) {
  const std::string key = write.ns + "/" + write.name;
  if (write.of_binding) needs_.ledger.flights.end(Entry::kBinding, write.uid);
  if (answer->ok() && api::uid_of(**answer) == write.uid) {
    const bool binds = needs_.ledger.flights.is_under_way(Entry::kBinding, write.uid);
    const bool goes = !(**answer)["metadata"]["deletionTimestamp"].is_null();
    if (write.of_eviction && !goes) needs_.intake.pods.eviction_failed(key, write.uid);
    if (!binds && (**answer)["spec"]["nodeName"].as_string().empty()) needs_.intake.pods.bind_failed(key, write.uid);
    needs_.intake.set_answer(api::resources::kPods, **answer);
  } else {
    needs_.intake.remove(api::resources::kPods, object_head("v1", "Pod", write.ns, write.name, write.uid));
    needs_.ledger.flights.forget(Entry::kPodStatus, write.uid);  // the model may not know the pod any more
  }
  needs_.on_change();
}

// The model believed a status that could not be written: the server's word counts.
void WriteEnds::ended(GroupLookup& write, const Step&, Reply answer) {
  if (answer->ok()) {
    needs_.intake.groups.forget_version(write.ns + "/" + write.name);
    needs_.intake.set_answer(api::resources::kPodGroups, **answer);
  } else if (answer->error().code == base::Code::kNotFound) {
    needs_.ledger.flights.forget(Entry::kGroup, write.ns + "/" + write.name);
  }
  needs_.on_change();
}

void WriteEnds::ended(QueueLookup& write, const Step&, Reply answer) {
  if (answer->ok())
    needs_.intake.set_answer(api::resources::kQueues, **answer);
  else if (answer->error().code == base::Code::kNotFound)
    needs_.ledger.flights.forget(Entry::kQueue, write.name);
  needs_.on_change();
}

// Once for each object and field, however many writes of it are lost meanwhile.
void WriteEnds::record_lost(LostStatus lost) {
  std::string key = key_of(lost);
  if (const auto known = lost_.find(key); known != lost_.end()) {
    auto* queue = std::get_if<QueueStatusWrite>(&lost);
    auto* queue_before = std::get_if<QueueStatusWrite>(&known->second);
    if (queue != nullptr && queue_before != nullptr)
      queue_before->plan.gone.insert(queue_before->plan.gone.end(), queue->plan.gone.begin(), queue->plan.gone.end());
    return;
  }
  lost_.emplace(key, std::move(lost));
  needs_.submit(Retelling{std::move(key)});
}

void WriteEnds::ended(Retelling& write, const Step&, Reply) {
  const auto node = lost_.extract(write.lost);
  const LostStatus& lost = node.mapped();
  if (const auto* pod = std::get_if<PodStatusWrite>(&lost))
    needs_.intake.pods.status_lost(pod->plan.ns + "/" + pod->plan.pod, pod->plan.uid);
  if (const auto* gate = std::get_if<GateRemoval>(&lost)) needs_.ledger.flights.end(Entry::kGate, gate->plan.uid);
  if (const auto* queue = std::get_if<QueueStatusWrite>(&lost))
    needs_.intake.queues.status_lost(queue->plan.name, queue->plan.gone);
  if (const auto* shard = std::get_if<ShardStatusWrite>(&lost)) {
    const Flights& flights = needs_.ledger.flights;
    const bool is_open = flights.is_under_way(Entry::kShard, shard->plan.name);
    if (!is_open && flights.is_doubtful(Entry::kShard, shard->plan.name)) needs_.ledger.lose_shard();
  }
  if (const auto* group = std::get_if<GroupStatusWrite>(&lost))
    return needs_.submit(GroupLookup{group->plan.ns, group->plan.name});
  needs_.on_change();
}

void WriteEnds::ended(NumatopologyDeletion& write, const Step& end, Reply) {
  if (is_done(end)) return;
  base::log_error("scheduler",
                  base::format("the Numatopology of node {} cannot be deleted: {}", write.node, end.error.message));
}

}  // namespace scheduler
