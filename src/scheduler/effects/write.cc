// Which writes follow from a plan, and by which steps is each done?
#include "scheduler/effects/write.h"

#include <algorithm>
#include <utility>

#include "api/meta/resource.h"
#include "scheduler/effects/outbox_requests.h"

namespace scheduler {
namespace {

template <class Plan>
std::string pod_lane(const Plan& plan) {
  return "pod/" + plan.ns + "/" + plan.pod;
}

// --- writes of one request ---

Step request_of(const PodStatusWrite& write, const StepContext& context) {
  return Step::call(pod_condition_request(write.plan, context.now), pod_lane(write.plan), Retry::kPassing);
}

Step request_of(const GateRemoval& write, const StepContext&) {
  return Step::call(gate_removal_request(write.plan), pod_lane(write.plan), Retry::kPassing);
}

Step request_of(const GroupStatusWrite& write, const StepContext&) {
  return Step::call(group_status_request(write.plan), "group/" + write.plan.ns + "/" + write.plan.name,
                    Retry::kPassing);
}

Step request_of(const QueueStatusWrite& write, const StepContext&) {
  return Step::call(queue_status_request(write.plan), "queue/" + write.plan.name, Retry::kPassing);
}

Step request_of(const ShardStatusWrite& write, const StepContext&) {
  return Step::call(node_shard_status_request(write.plan), "shard/" + write.plan.name, Retry::kPassing);
}

template <class Write>
Step begin_of(Write& write, const StepContext& context) {
  return request_of(write, context);
}

template <class Write>
Step next_of(Write&, Reply answer, const StepContext&) {
  return answer->ok() ? Step::done() : Step::failed(answer->error());
}

// --- bindings ---

// Enters the part that comes next, from where the binding is.
Step enter(PodBinding& write, const StepContext& context) {
  if (write.at == PodBinding::At::kVolumes) {
    Step step = write.volumes.begin(write.plan, context);
    if (step.kind != Step::Kind::kDone) return step;
    write.at = PodBinding::At::kClaims;
  }
  if (write.at == PodBinding::At::kClaims) {
    Step step = write.claims.begin(write.plan);
    if (step.kind != Step::Kind::kDone) return step;
    write.at = PodBinding::At::kNodeLock;
  }
  if (write.at == PodBinding::At::kNodeLock && !write.plan.node_lock.empty())
    return Step::call(node_lock_request(write.plan, context.now), "node/" + write.plan.node, Retry::kPassing);
  write.at = PodBinding::At::kBind;
  write.bind_begun = context.uptime;
  // Whether a binding took effect or not, the server knows: the model follows what it says.
  return Step::call(binding_request(write.plan), pod_lane(write.plan), Retry::kNever);
}

Step begin_of(PodBinding& write, const StepContext& context) {
  write.begun = context.uptime;
  return enter(write, context);
}

Step next_of(PodBinding& write, Reply answer, const StepContext& context) {
  const auto after = [&](Step step, PodBinding::At then) {
    if (step.kind != Step::Kind::kDone) return step;
    write.at = then;
    return enter(write, context);
  };
  switch (write.at) {
    case PodBinding::At::kVolumes:
      return after(write.volumes.next(write.plan, answer, context), PodBinding::At::kClaims);
    case PodBinding::At::kClaims: return after(write.claims.next(write.plan, *answer), PodBinding::At::kNodeLock);
    case PodBinding::At::kNodeLock:
      if (!answer->ok()) return Step::failed(answer->error());
      write.at = PodBinding::At::kBind;
      return enter(write, context);
    case PodBinding::At::kBind: break;
  }
  return answer->ok() ? Step::done() : Step::failed(answer->error());
}

// --- evictions ---

Step begin_of(PodEviction& write, const StepContext& context) {
  return Step::call(eviction_condition_request(write.plan, write.component, context.now), pod_lane(write.plan),
                    Retry::kPassing);
}

Step next_of(PodEviction& write, Reply answer, const StepContext&) {
  if (!std::exchange(write.reported, true))  // the pod goes, whether or not it could be told why
    return Step::call(deletion_request(write.plan), pod_lane(write.plan), Retry::kPassing);
  return answer->ok() ? Step::done() : Step::failed(answer->error());
}

// --- what follows a failure ---

Step begin_of(ClaimRelease& write, const StepContext&) {
  if (write.next == write.plan.claims.size()) return Step::done();
  return Step::call(claim_release_request(write.plan, write.plan.claims[write.next]));
}

Step next_of(ClaimRelease& write, Reply, const StepContext& context) {
  ++write.next;
  return begin_of(write, context);
}

Step begin_of(PodLookup& write, const StepContext&) {
  if (const base::Duration pause = std::exchange(write.pause, {}); pause.ns > 0) return Step::wait(pause);
  return Step::call(lookup_request(api::resources::kPods, write.ns, write.name));
}

Step begin_of(GroupLookup& write, const StepContext&) {
  return Step::call(lookup_request(api::resources::kPodGroups, write.ns, write.name));
}

Step begin_of(QueueLookup& write, const StepContext&) {
  return Step::call(lookup_request(api::resources::kQueues, {}, write.name));
}

// An object that is gone is an answer as well.
template <class Lookup>
Step next_of_lookup(Lookup& write, Reply answer, const StepContext& context) {
  if (answer == nullptr) return begin_of(write, context);
  if (answer->ok() || answer->error().code == base::Code::kNotFound) return Step::done();
  return Step::wait(*retry_after(Retry::kUntilAnswered, answer->error().code, 0, context.random));
}

Step next_of(PodLookup& write, Reply answer, const StepContext& context) {
  return next_of_lookup(write, answer, context);
}

Step next_of(QueueLookup& write, Reply answer, const StepContext& context) {
  return next_of_lookup(write, answer, context);
}

Step next_of(GroupLookup& write, Reply answer, const StepContext& context) {
  return next_of_lookup(write, answer, context);
}

Step begin_of(Retelling&, const StepContext&) { return Step::wait(kLostPause); }
Step next_of(Retelling&, Reply, const StepContext&) { return Step::done(); }

// --- objects that must exist, or be gone ---

Step begin_of(QueueCreation& write, const StepContext&) {
  return Step::call(queue_creation_request(write.name, write.reclaimable));
}

Step begin_of(NumatopologyDeletion& write, const StepContext& context) {
  if (context.has_node != nullptr && *context.has_node && (*context.has_node)(write.node)) return Step::done();
  return Step::call(numatopology_deletion_request(write.node, write.uid));
}

template <class Write>
Step insist(Write& write, Retry policy, Reply answer, bool is_so, const StepContext& context) {
  if (answer == nullptr) return begin_of(write, context);
  if (answer->ok() || is_so) return Step::done();
  const auto pause = retry_after(policy, answer->error().code, ++write.tries, context.random);
  return pause ? Step::wait(*pause) : Step::failed(answer->error());
}

Step next_of(QueueCreation& write, Reply answer, const StepContext& context) {
  const bool exists = answer != nullptr && !answer->ok() && answer->error().code == base::Code::kAlreadyExists;
  return insist(write, Retry::kForever, answer, exists, context);
}

Step next_of(NumatopologyDeletion& write, Reply answer, const StepContext& context) {
  const bool is_gone = answer != nullptr && !answer->ok() && is_overtaken(answer->error().code);
  return insist(write, Retry::kInsist, answer, is_gone, context);
}

// --- newer in place of older ---

void keep_fields_of_older(PodStatusWrite& newer, const PodStatusWrite& older) {
  if (newer.plan.nominated_node.empty() && newer.plan.uid == older.plan.uid)
    newer.plan.nominated_node = older.plan.nominated_node;
}

void keep_fields_of_older(GroupStatusWrite& newer, const GroupStatusWrite& older) {
  if (newer.plan.uid != older.plan.uid) return;
  newer.plan.is_urgent |= older.plan.is_urgent;
  if (!newer.plan.allocated_domain) newer.plan.allocated_domain = older.plan.allocated_domain;
  if (!newer.plan.eviction_round) newer.plan.eviction_round = older.plan.eviction_round;
}

void keep_fields_of_older(QueueStatusWrite& newer, const QueueStatusWrite& older) {
  for (const std::string& name : older.plan.gone) {
    std::vector<std::string>& gone = newer.plan.gone;
    const bool known = newer.plan.allocated.contains(name) || std::find(gone.begin(), gone.end(), name) != gone.end();
    if (!known) gone.push_back(name);
  }
}

void keep_fields_of_older(ShardStatusWrite&, const ShardStatusWrite&) {}

// All its pods are being bound, or are bound and have not started: the next status will say more. So it will of a group
// that was made for pods before any of them is known to be its own.
bool is_on_its_way(const PlannedGroupStatus& plan) {
  const GroupStatus& status = plan.status;
  if (status.phase == GroupPhase::kRunning) return status.running == 0 && status.succeeded == 0 && status.failed == 0;
  if (status.phase != GroupPhase::kInqueue) return false;
  if (status.conditions.empty()) return is_made_for_pods(plan.name);
  const auto newest =
      std::max_element(status.conditions.begin(), status.conditions.end(),
                       [](const auto& a, const auto& b) { return a.last_transition < b.last_transition; });
  return newest->type.view() == "Scheduled";
}

template <class Write>
bool supersedes_as(Work& newer, const Work& older) {
  Write* late = std::get_if<Write>(&newer);
  const Write* early = std::get_if<Write>(&older);
  if (late == nullptr || early == nullptr) return false;
  keep_fields_of_older(*late, *early);
  return true;
}

}  // namespace

Step begin(Work& work, const StepContext& context) {
  return std::visit([&](auto& write) { return begin_of(write, context); }, work);
}

Step next(Work& work, Reply answer, const StepContext& context) {
  return std::visit([&](auto& write) { return next_of(write, answer, context); }, work);
}

Urgency urgency_of(const Work& work) {
  if (const auto* group = std::get_if<GroupStatusWrite>(&work))
    return group->plan.is_urgent ? Urgency::kPhase : Urgency::kCounts;
  if (std::holds_alternative<ShardStatusWrite>(work)) return Urgency::kPhase;
  const bool reports = std::holds_alternative<PodStatusWrite>(work) || std::holds_alternative<QueueStatusWrite>(work) ||
                       std::holds_alternative<Retelling>(work);
  return reports ? Urgency::kCounts : Urgency::kFirst;
}

bool is_paced(const Work& work) {
  if (const auto* group = std::get_if<GroupStatusWrite>(&work)) return !group->plan.is_urgent;
  return std::holds_alternative<QueueStatusWrite>(work);
}

base::Duration gather_time(const Work& work) {
  if (!is_paced(work)) return {};
  const auto* group = std::get_if<GroupStatusWrite>(&work);
  if (group == nullptr || !is_on_its_way(group->plan)) return kCountsGather;
  return is_made_for_pods(group->plan.name) ? kMadeGroupGather : kBindingsGather;
}

bool supersedes(Work& newer, const Work& older) {
  return supersedes_as<PodStatusWrite>(newer, older) || supersedes_as<GroupStatusWrite>(newer, older) ||
         supersedes_as<QueueStatusWrite>(newer, older) || supersedes_as<ShardStatusWrite>(newer, older);
}

}  // namespace scheduler
