// The decisions of a pod's life: order of init containers, restarts, termination, the pod's phase.
#include "node/pod/pod_plan.h"

#include <algorithm>

#include "api/meta/resource.h"
#include "api/schema/names.h"
#include "node/pod/probe.h"

namespace node {

using api::Json;

namespace {

void wake_at(Plan& plan, base::Duration at) {
  if (!plan.wake || at < *plan.wake) plan.wake = at;
}

bool is_live(const ContainerState& container) {
  return container.phase == RunPhase::kStarting || container.phase == RunPhase::kRunning;
}

base::Duration grace_of(const Json& pod) {
  if (api::is_deleting(pod)) {
    const Json& grace = pod["metadata"]["deletionGracePeriodSeconds"];
    if (grace.is_number()) return base::seconds(grace.as_int());
  }
  return base::seconds(pod["spec"]["terminationGracePeriodSeconds"].as_int(30));
}

// True when the pod has run longer than spec.activeDeadlineSeconds; otherwise asks to be woken then. By the wall clock,
// as others judge it who read status.startTime.
bool past_deadline(const Json& pod, const PodState& state, const Moment& now, Plan& plan) {
  const Json& seconds = pod["spec"]["activeDeadlineSeconds"];
  if (!seconds.is_number() || !state.start_time.is_set()) return false;
  const base::Time due = state.start_time + base::seconds(seconds.as_int());
  if (now.wall >= due) return true;
  wake_at(plan, now.uptime + (due - now.wall));
  return false;
}

void plan_stop_container(const Json& pod, const ContainerState& container, std::size_t index, base::Duration now,
                         Plan& plan) {
  if (container.phase != RunPhase::kRunning) return;  // a start under way ends first
  const bool own_grace = container.doom_grace && !api::is_deleting(pod);
  const base::Duration grace = own_grace ? *container.doom_grace : grace_of(pod);
  if (!container.term_sent) {
    if (grace <= base::Duration{}) return plan.actions.push_back({ActionKind::kKill, index});
    return plan.actions.push_back({ActionKind::kTerminate, index, grace});
  }
  if (container.kill_sent) return;
  // A hook has its own end, no later than the grace's.
  if (container.pre_stop == HookPhase::kBusy && grace > base::Duration{}) return;
  // A second deletion may have shortened the grace.
  const Json& deletion = pod["metadata"]["deletionTimestamp"];
  base::Duration due = container.kill_at;
  if (const auto until = base::parse_rfc3339(deletion.as_string()); until && grace_of(pod) == base::Duration{})
    due = std::min(due, now);
  if (now >= due) return plan.actions.push_back({ActionKind::kKill, index});
  wake_at(plan, due);
}

Plan plan_stop(const Json& pod, const PodState& state, base::Duration now, Plan plan) {
  bool live = false;
  for (std::size_t i = 0; i < state.containers.size(); ++i) {
    live |= is_live(state.containers[i]);  // a pull under way comes to nothing
    plan_stop_container(pod, state.containers[i], i, now, plan);
  }
  if (live || state.sandbox == Sandbox::kPreparing || state.sandbox == Sandbox::kRemoving) return plan;
  if (state.sandbox == Sandbox::kReady || state.sandbox == Sandbox::kLost) {
    plan.actions.push_back({ActionKind::kRemove});
    return plan;
  }
  if (api::is_deleting(pod)) plan.actions.push_back({ActionKind::kFinalize});
  return plan;
}

void plan_probes(const Json& pod, const ContainerState& container, std::size_t index, base::Duration now, Plan& plan) {
  const Json& spec = container_spec(pod, container);
  for (const ProbeKind kind : kProbeKinds) {
    const std::optional<base::Duration> due = probe_due(spec, container, kind);
    if (!due) continue;
    if (now >= *due)
      plan.actions.push_back({ActionKind::kProbe, index, {}, kind});
    else
      wake_at(plan, *due);
  }
}

// Brings one container forward: its image, its first start, its end, or its restart.
void plan_container(const Json& pod, const ContainerState& container, std::size_t index, base::Duration now,
                    Plan& plan) {
  if (!container.doom.empty()) plan_stop_container(pod, container, index, now, plan);
  plan_probes(pod, container, index, now, plan);
  if (is_live(container) || container.image_busy) return;
  if (container.phase == RunPhase::kEnded) {
    if (!will_restart(pod, container)) return;
    if (now < restart_at(container)) return wake_at(plan, restart_at(container));
  }
  if (now < container.retry_at) return wake_at(plan, container.retry_at);
  plan.actions.push_back({container.image_ready ? ActionKind::kStart : ActionKind::kPull, index});
}

bool init_passed(const ContainerState& container) {
  if (is_of_lost_sandbox(container)) return false;
  if (container.sidecar && container.probes[static_cast<std::size_t>(ProbeKind::kStartup)].wanted)
    return container.started_once || is_started(container);
  if (container.sidecar)
    return container.phase == RunPhase::kRunning || container.attempt > container.first_attempt ||
           container.phase == RunPhase::kEnded;
  return container.phase == RunPhase::kEnded && container.ended.exit_code == 0;
}

}  // namespace

std::string_view restart_policy(const Json& pod) { return pod["spec"]["restartPolicy"].as_string("Always"); }

std::string_view restart_policy(const Json& pod, const Json& spec) {
  return spec["restartPolicy"].as_string(restart_policy(pod));
}

std::string_view spec_list(const ContainerState& container) {
  return container.ephemeral ? "ephemeralContainers" : container.init ? "initContainers" : "containers";
}

std::string_view status_list(const ContainerState& container) {
  return container.ephemeral ? "ephemeralContainerStatuses"
         : container.init    ? "initContainerStatuses"
                             : "containerStatuses";
}

const Json& container_spec(const Json& pod, const ContainerState& container) {
  static const Json none;
  for (const Json& spec : pod["spec"][spec_list(container)].items())
    if (spec["name"].as_string() == container.name) return spec;
  return none;
}

std::string_view restart_rule(const Json& spec, int exit_code) {
  for (const Json& rule : spec["restartPolicyRules"].items()) {
    const Json& codes = rule["exitCodes"];
    const bool named =
        std::ranges::any_of(codes["values"].items(), [&](const Json& one) { return one.as_int() == exit_code; });
    if (named == (codes["operator"].as_string() == "In")) return rule["action"].as_string();
  }
  return {};
}

bool will_restart(const Json& pod, const ContainerState& container) {
  if (container.sidecar || (container.init && is_of_lost_sandbox(container))) return true;
  if (container.ephemeral) return false;
  const bool succeeded = container.ended.exit_code == 0;
  if (container.init && succeeded && container.doom.empty()) return false;
  const Json& spec = container_spec(pod, container);
  if (!restart_rule(spec, container.ended.exit_code).empty()) return true;
  const std::string_view policy = restart_policy(pod, spec);
  if (!container.doom.empty()) return policy != "Never";  // it did not end by itself
  return succeeded ? policy == "Always" : policy != "Never";
}

base::Duration restart_at(const ContainerState& container) { return container.ended_at + container.back_off; }

namespace {

// A container that never starts any more counts as ended, so that the pod is over.
void give_up_unstarted(PodState& state, base::Time now) {
  for (ContainerState& container : state.containers) {
    if (container.init || container.ephemeral || container.phase != RunPhase::kNone) continue;
    container.phase = RunPhase::kEnded;
    container.ended = {
        {}, {}, now, 137, "ContainerStatusUnknown", "The pod's sandbox was lost before the container started"};
  }
}

}  // namespace

void begin_anew(const Json& pod, PodState& state, base::Time now) {
  bool have_run = false, goes_on = restart_policy(pod) != "Never";
  for (const ContainerState& container : state.containers) {
    if (container.ephemeral || container.sidecar) continue;
    const bool ended = container.phase == RunPhase::kEnded && !is_of_lost_sandbox(container);
    // One that failed for good is the pod's end.
    if (container.init && ended && container.ended.exit_code != 0 && !will_restart(pod, container)) return;
    if (container.init) continue;
    have_run |= container.phase != RunPhase::kNone || container.attempt > 0;
    goes_on |= ended && will_restart(pod, container);
  }
  if (have_run && !goes_on) return give_up_unstarted(state, now);
  restart_all(state);
}

void restart_all(PodState& state) {
  for (ContainerState& container : state.containers) {
    if (container.ephemeral) continue;
    container.first_attempt = container.phase == RunPhase::kNone ? container.attempt : container.attempt + 1;
    container.started_once = false;
    container.back_off = {};
  }
}

PodState initial_state(const Json& pod) {
  PodState state;
  for (const char* list : {"initContainers", "containers"}) {
    for (const Json& spec : pod["spec"][list].items()) {
      ContainerState& container = state.containers.emplace_back();
      container.name = spec["name"].str();
      container.init = std::string_view(list) == "initContainers";
      container.sidecar = container.init && spec["restartPolicy"].as_string() == "Always";
      reset_probes(spec, container);
    }
  }
  (void)add_ephemeral_containers(pod, state);
  return state;
}

bool add_ephemeral_containers(const Json& pod, PodState& state) {
  bool any = false;
  for (const Json& spec : pod["spec"]["ephemeralContainers"].items()) {
    const std::string_view name = spec["name"].as_string();
    const bool known =
        std::ranges::any_of(state.containers, [&](const ContainerState& one) { return one.name == name; });
    // The name becomes a path.
    if (known || !api::is_dns_label(name)) continue;
    ContainerState& container = state.containers.emplace_back();
    container.name = name;
    container.ephemeral = any = true;
  }
  return any;
}

Plan plan_pod(const Json& pod, const PodState& state, const Moment& moment) {
  Plan plan;
  const base::Duration now = moment.uptime;
  const bool late = past_deadline(pod, state, moment, plan);
  if (api::is_deleting(pod) || state.stopping || late || is_over(pod, state))
    return plan_stop(pod, state, now, std::move(plan));
  if (state.sandbox == Sandbox::kLost) {
    for (std::size_t i = 0; i < state.containers.size(); ++i)
      plan_stop_container(pod, state.containers[i], i, now, plan);
    if (std::ranges::any_of(state.containers, is_live)) return plan;
  }
  if (is_to_be_made(state.sandbox)) {
    if (now < state.prepare_at)
      wake_at(plan, state.prepare_at);
    else
      plan.actions.push_back({ActionKind::kPrepare});
  }
  if (state.sandbox != Sandbox::kReady) return plan;
  bool initialized = true;
  for (std::size_t i = 0; i < state.containers.size(); ++i) {
    const ContainerState& container = state.containers[i];
    if (container.init) {
      if (initialized || container.sidecar) {
        // A sidecar that has begun goes on, whatever the init containers before it do.
        const bool begun = container.attempt > container.first_attempt ||
                           (container.phase != RunPhase::kNone && !is_of_lost_sandbox(container));
        if (container.sidecar ? initialized || begun : !init_passed(container))
          plan_container(pod, container, i, now, plan);
      }
      initialized = initialized && init_passed(container);
    } else if (initialized || container.ephemeral) {
      plan_container(pod, container, i, now, plan);
    }
  }
  return plan;
}

PodPhase phase_of(const Json& pod, const PodState& state) {
  if (!state.failure_reason.empty()) return PodPhase::kFailed;
  // A pod on its way out is judged by what its containers ended with.
  bool leaving = api::is_deleting(pod) || state.stopping;
  for (const ContainerState& container : state.containers) leaving = leaving && !is_live(container);
  int initializing = 0, pending = 0, running = 0, ended = 0, succeeded = 0, restarting = 0;
  for (const ContainerState& container : state.containers) {
    if (container.ephemeral) continue;
    const bool again = container.phase == RunPhase::kEnded && will_restart(pod, container);
    if (container.init) {
      if (init_passed(container)) continue;
      if (container.phase == RunPhase::kEnded &&
          (!again || (leaving && !container.sidecar && !is_of_lost_sandbox(container))))
        return PodPhase::kFailed;
      ++initializing;
    } else if (container.phase == RunPhase::kRunning) {
      ++running;
    } else if (container.phase == RunPhase::kEnded) {
      ++ended;
      restarting += again ? 1 : 0;
      const bool ends_so = container.doom.empty() || !again;
      succeeded += container.ended.exit_code == 0 && ends_so ? 1 : 0;
    } else if (container.last) {
      ++ended;
      ++restarting;
    } else {
      ++pending;
    }
  }
  if (leaving && ended > 0)
    return initializing + pending == 0 && succeeded == ended ? PodPhase::kSucceeded : PodPhase::kFailed;
  // As with a kubelet, a pod whose containers have run before does not go back to Pending.
  if (pending > 0 || (initializing > 0 && running + ended == 0)) return PodPhase::kPending;
  if (running > 0 || restarting > 0) return PodPhase::kRunning;
  if (ended == 0) return PodPhase::kPending;
  return succeeded == ended ? PodPhase::kSucceeded : PodPhase::kFailed;
}

bool is_over(const Json& pod, const PodState& state) {
  const PodPhase phase = phase_of(pod, state);
  return phase == PodPhase::kSucceeded || phase == PodPhase::kFailed;
}

}  // namespace node
