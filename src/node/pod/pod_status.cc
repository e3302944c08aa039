// How a pod's state reads in status: phase, conditions, container statuses.
#include "node/pod/pod_status.h"

#include <algorithm>

#include "api/meta/resource.h"
#include "api/pod_requests.h"
#include "base/format.h"
#include "node/pod/pod_plan.h"
#include "node/pod/probe.h"

namespace node {

using api::Json;

namespace {

std::string full_id(const std::string& id) { return id.empty() ? std::string() : "volcano://" + id; }

Json ended_json(const EndedRun& run) {
  Json ended = Json::object({{"exitCode", run.exit_code}});
  if (run.exit_code > 128 && run.exit_code < 128 + 65 && run.reason == "Error")
    ended.set("signal", run.exit_code - 128);
  ended.set("reason", run.reason);
  if (!run.message.empty()) ended.set("message", run.message);
  // As with a kubelet, what never ran began with the epoch.
  ended.set("startedAt", base::format_rfc3339(run.started));
  ended.set("finishedAt", base::format_rfc3339(run.finished));
  ended.set("containerID", full_id(run.id));
  return Json::object({{"terminated", ended}});
}

Json waiting_json(std::string_view reason, std::string_view message) {
  Json waiting = Json::object({{"reason", reason}});
  if (!message.empty()) waiting.set("message", message);
  return Json::object({{"waiting", waiting}});
}

// An init container's work is done.
bool has_passed(const ContainerState& container) {
  return container.phase == RunPhase::kEnded && container.ended.exit_code == 0 && !is_of_lost_sandbox(container);
}

bool has_init_left(const PodState& state) {
  for (const ContainerState& container : state.containers)
    if (container.init && !container.sidecar && !has_passed(container)) return true;
  return false;
}

Json state_json(const Json& pod, const PodState& state, const ContainerState& container, base::Duration now) {
  switch (container.phase) {
    case RunPhase::kRunning:
      return Json::object({{"running", Json::object({{"startedAt", base::format_rfc3339(container.started)}})}});
    case RunPhase::kEnded: {
      const bool waits = will_restart(pod, container) && !is_over(pod, state) && !api::is_deleting(pod) &&
                         container.back_off > base::Duration{} && now < restart_at(container);
      if (!waits) return ended_json(container.ended);
      return waiting_json("CrashLoopBackOff",
                          base::format("back-off {} restarting failed container={} pod={}_{}({})",
                                       base::format_go_duration(container.back_off), container.name, api::name_of(pod),
                                       api::namespace_of(pod), api::uid_of(pod)));
    }
    default:
      if (!container.waiting_reason.empty()) return waiting_json(container.waiting_reason, container.waiting_message);
      return waiting_json(container.ephemeral                        ? "ContainerCreating"
                          : !container.init && has_init_left(state)  ? "PodInitializing"
                          : container.init && container.attempt == 0 ? "PodInitializing"
                                                                     : "ContainerCreating",
                          {});
  }
}

// The amounts set aside for the container, and those that it has; what nobody holds it to is not a limit.
void set_amounts(const Json& pod, const PodState& state, const ContainerState& container, Json& json) {
  const Json& set_aside = container_spec(pod, container)["resources"];
  if (!set_aside["requests"].empty()) json.set("allocatedResources", set_aside["requests"]);
  const bool has = container.phase == RunPhase::kRunning && container.held.is_object();
  Json resources = !has ? set_aside : container.actual.is_object() ? container.actual : container.held;
  if (!resources.is_object()) resources = Json::object();
  // The limits that it has of its pod are not its own.
  const Json had = resources["limits"];
  for (const Json::Member& limit : had.members())
    if (!set_aside["limits"].has(limit.name())) resources.edit("limits").erase(limit.name());
  if (!had.is_null() && resources["limits"].empty()) resources.erase("limits");
  resources.erase("claims");
  if (!state.limits_held) resources.erase("limits");
  json.set("resources", std::move(resources));
}

// The same for the pod as a whole, if it says something.
void set_whole_amounts(const Json& pod, const PodState& state, Json& status) {
  if (!api::has_pod_level_resources(pod["spec"]) || !state.held.is_object()) return;
  const Json& set_aside = pod["spec"]["resources"];
  if (!set_aside["requests"].empty()) status.set("allocatedResources", set_aside["requests"]);
  Json resources = state.held;
  resources.erase("claims");
  if (!state.limits_held) resources.erase("limits");
  status.set("resources", std::move(resources));
}

Json container_json(const Json& pod, const PodState& state, const ContainerState& container, base::Duration now) {
  Json state_now = state_json(pod, state, container, now);
  Json last = Json::object();
  if (container.phase == RunPhase::kEnded && state_now.has("waiting"))
    last = ended_json(container.ended);
  else if (container.last)
    last = ended_json(*container.last);
  const bool ready = container.ephemeral                    ? false
                     : container.init && !container.sidecar ? has_passed(container)
                                                            : is_ready(container);
  Json json = Json::object({{"name", container.name},
                            {"state", state_now},
                            {"lastState", last},
                            {"ready", ready},
                            {"restartCount", container.attempt},
                            {"image", container_spec(pod, container)["image"]},
                            {"imageID", container.image_id}});
  if (!container.id.empty()) json.set("containerID", full_id(container.id));
  if (!container.ephemeral) json.set("started", is_started(container));
  if (!container.ephemeral) set_amounts(pod, state, container, json);
  return json;
}

struct ConditionText {
  std::string type;
  bool holds;
  std::string reason = {};
  std::string message = {};
  std::int64_t generation = 0;  // of the spec that it is about; 0: it does not say
};

Json condition_json(const Json& pod, const ConditionText& text, base::Time now) {
  const std::string_view status = text.holds ? "True" : "False";
  Json since = base::format_rfc3339(now);
  for (const Json& old : pod["status"]["conditions"].items())
    if (old["type"].as_string() == text.type && old["status"].as_string() == status &&
        !old["lastTransitionTime"].is_null())
      since = old["lastTransitionTime"];
  Json json = Json::object(
      {{"type", text.type}, {"status", status}, {"lastProbeTime", nullptr}, {"lastTransitionTime", since}});
  // A patch that names neither would leave the old texts behind.
  json.set("reason", text.reason.empty() ? Json() : Json(text.reason));
  json.set("message", text.message.empty() ? Json() : Json(text.message));
  if (text.generation > 0) json.set("observedGeneration", text.generation);
  return json;
}

// The readiness gates of the pod that others have not set.
std::string missing_gates(const Json& pod) {
  std::string missing;
  for (const Json& gate : pod["spec"]["readinessGates"].items()) {
    const std::string_view type = gate["conditionType"].as_string();
    std::string_view status;
    for (const Json& one : pod["status"]["conditions"].items())
      if (one["type"].as_string() == type) status = one["status"].as_string();
    if (status == "True") continue;
    missing += missing.empty() ? "" : ", ";
    missing += status.empty()
                   ? base::format("corresponding condition of pod readiness gate \"{}\" does not exist.", type)
                   : base::format("the status of pod readiness gate \"{}\" is not \"True\", but {}", type, status);
  }
  return missing;
}

Json conditions_json(const Json& pod, const PodState& state, base::Time now) {
  std::string not_initialized, not_ready;
  for (const ContainerState& container : state.containers) {
    if (container.ephemeral) continue;
    if (container.init && !container.sidecar) {
      if (!has_passed(container)) not_initialized += (not_initialized.empty() ? "" : " ") + container.name;
    } else if (!is_ready(container)) {
      not_ready += (not_ready.empty() ? "" : " ") + container.name;
    }
  }
  const bool succeeded = phase_of(pod, state) == PodPhase::kSucceeded;
  const bool failed = phase_of(pod, state) == PodPhase::kFailed;
  ConditionText initialized{"Initialized", not_initialized.empty()};
  if (!initialized.holds)
    initialized = {"Initialized", false, "ContainersNotInitialized",
                   base::format("containers with incomplete status: [{}]", not_initialized)};
  if (succeeded) initialized = {"Initialized", true, "PodCompleted"};
  ConditionText ready{"Ready", not_ready.empty() && not_initialized.empty() && !failed};
  if (succeeded)
    ready = {"Ready", false, "PodCompleted"};
  else if (failed)
    ready = {"Ready", false, "PodFailed"};
  else if (!ready.holds)
    ready = {"Ready", false, "ContainersNotReady", base::format("containers with unready status: [{}]", not_ready)};
  ConditionText containers_ready = ready;
  containers_ready.type = "ContainersReady";
  if (std::string missing = missing_gates(pod); ready.holds && !missing.empty())
    ready = {"Ready", false, "ReadinessGatesNotReady", std::move(missing)};
  // A kubelet says so when the surroundings of a pod that is over are gone; at its end it costs no write of its own.
  const ConditionText surroundings{"PodReadyToStartContainers",
                                   state.sandbox == Sandbox::kReady && !succeeded && !failed};
  Json list = Json::array();
  for (const ConditionText& text :
       {surroundings, initialized, ready, containers_ready, ConditionText{"PodScheduled", true}})
    list.push_back(condition_json(pod, text, now));
  const ResizeState& resize = state.resize;
  if (state.failure_reason == kEvicted || state.failure_reason == kTerminated)
    list.push_back(condition_json(
        pod, {"DisruptionTarget", true, "TerminationByKubelet", std::string(state.failure_message)}, now));
  if (succeeded || failed) return list;
  if (!resize.pending.empty())
    list.push_back(condition_json(
        pod, {"PodResizePending", true, resize.pending, resize.pending_message, resize.pending_generation}, now));
  if (resize.in_progress)
    list.push_back(condition_json(
        pod, {"PodResizeInProgress", true, resize.error.empty() ? "" : "Error", resize.error, resize.generation}, now));
  return list;
}

}  // namespace

Json status_for(const Json& pod, const PodState& state, const std::string& host_ip, const Moment& now) {
  static constexpr std::string_view kPhases[] = {"Pending", "Running", "Succeeded", "Failed"};
  Json status = Json::object({{"phase", kPhases[static_cast<int>(phase_of(pod, state))]}});
  status.set("conditions", conditions_json(pod, state, now.wall));
  if (const Json& generation = pod["metadata"]["generation"]; generation.is_number())
    status.set("observedGeneration", generation);
  status.set("reason", state.failure_reason.empty() ? Json() : Json(state.failure_reason));
  status.set("message", state.failure_message.empty() ? Json() : Json(state.failure_message));
  status.set("hostIP", host_ip);
  status.set("hostIPs", Json::array({Json::object({{"ip", host_ip}})}));
  if (!state.ip.empty()) {
    status.set("podIP", state.ip);
    status.set("podIPs", Json::array({Json::object({{"ip", state.ip}})}));
  }
  if (state.start_time.is_set()) status.set("startTime", base::format_rfc3339(state.start_time));
  Json init = Json::array(), main = Json::array(), ephemeral = Json::array();
  // A pod that was refused has no containers to speak of; tools then show its reason.
  bool touched = state.failure_reason.empty();
  for (const ContainerState& container : state.containers)
    touched = touched || container.phase != RunPhase::kNone || container.last;
  if (touched) {
    for (const ContainerState& container : state.containers)
      (container.ephemeral ? ephemeral
       : container.init    ? init
                           : main)
          .push_back(container_json(pod, state, container, now.uptime));
  }
  if (!init.empty()) status.set("initContainerStatuses", init);
  status.set("containerStatuses", main);
  if (!ephemeral.empty()) status.set("ephemeralContainerStatuses", ephemeral);
  set_whole_amounts(pod, state, status);
  status.set("qosClass", api::qos_class(pod["spec"]));
  return status;
}

}  // namespace node
