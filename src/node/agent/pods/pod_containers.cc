// How containers start, and what follows from their ends.
#include "node/agent/pods/pod_containers.h"

#include <algorithm>

#include "api/meta/resource.h"
#include "base/format.h"
#include "node/machine/container_text.h"
#include "node/pod/pod_plan.h"
#include "node/pod/pod_specs.h"
#include "node/pod/probe.h"

namespace node {

using api::Json;
using base::Code;
using base::make_error;

namespace {

constexpr std::string_view kConfigError = "CreateContainerConfigError";

// The pod as if it had this container alone.
Json with_only(const Json& pod, const ContainerState& container) {
  Json alone = pod;
  Json& spec = alone.edit("spec");
  spec.set("containers", Json::array({container_spec(pod, container)}));
  spec.erase("initContainers");
  spec.erase("ephemeralContainers");
  return alone;
}

}  // namespace

// A container that joins a running pod is checked here, because the pod cannot be refused any more.
base::Result<ContainerSpec> PodContainers::spec_of(const PodWorker& worker, const ContainerState& container) const {
  TRY(ContainerSpec spec, container_spec_for(worker.pod, container, needs_.lookups.of(worker)));
  if (!container.ephemeral) return spec;
  if (auto why = needs_.loop.runtime()->refusal(with_only(worker.pod, container)))
    return make_error(Code::kInvalid, *std::move(why));
  const std::string_view target = container_spec(worker.pod, container)["targetContainerName"].as_string();
  if (target.empty()) return spec;
  for (const ContainerState& one : worker.state.containers)
    if (one.name == target && one.phase == RunPhase::kRunning) spec.target_id = one.id;
  if (spec.target_id.empty())
    return make_error(Code::kNotFound, base::format("unable to find target container {}", target));
  return spec;
}

// The container cannot be made, as things are: it waits, and is tried again.
void PodContainers::cannot_be_made(PodWorker& worker, ContainerState& container, const base::Error& why) {
  container.waiting_reason = kConfigError;
  container.waiting_message = reason_text(why.message);
  needs_.events.record(worker.pod, "Warning", "Failed", "Error: " + why.message, container);
  container.retry_back_off = doubled(container.retry_back_off, base::seconds(2), base::seconds(30));
  container.retry_at = needs_.loop.uptime() + container.retry_back_off;
  needs_.steps.step_after(std::string(api::uid_of(worker.pod)), container.retry_back_off + base::milliseconds(1));
}

void PodContainers::start(PodWorker& worker, std::size_t index) {
  ContainerState& container = worker.state.containers[index];
  const std::string uid(api::uid_of(worker.pod));
  if (container.phase == RunPhase::kEnded) {
    container.last = container.ended;
    index_.erase(container.id);
    container.ended = {};
    ++container.attempt;
    container.phase = RunPhase::kNone;
    container.term_sent = container.kill_sent = false;
    reset_probes(container_spec(worker.pod, container), container);
  }
  auto spec = spec_of(worker, container);
  if (!needs_.devices.give(worker, spec) || !needs_.claims.give(worker, container, spec)) return;
  if (!spec.ok()) return cannot_be_made(worker, container, spec.error());
  if (container.waiting_reason != kConfigError) {  // which stays until it is known to be over
    container.waiting_reason.clear();
    container.waiting_message.clear();
  }
  container.phase = RunPhase::kStarting;
  container.held = effective_resources(worker.pod, container_spec(worker.pod, container));
  container.actual = {};
  container.id = spec->id;
  spec->given_up = worker.given_up;
  index_[container.id] = {uid, index};
  needs_.work.run<base::Result<StartedContainer>>(
      uid,
      [started_spec = *spec,
       write = needs_.resizes.write_of(worker)](Runtime& machine) -> base::Result<StartedContainer> {
        TRY_VOID(write());
        return machine.start(started_spec);
      },
      [this, uid, index](base::Result<StartedContainer> started) {
        if (PodWorker* found = needs_.pods.find(uid)) this->started(*found, index, std::move(started));
      });
}

void PodContainers::started(PodWorker& worker, std::size_t index, base::Result<StartedContainer> answer) {
  const std::string uid(api::uid_of(worker.pod));
  ContainerState& of = worker.state.containers[index];
  if (!answer.ok() && answer.error().code == base::Code::kForbidden) {
    index_.erase(of.id);
    of.id.clear();
    of.phase = RunPhase::kNone;
    cannot_be_made(worker, of, answer.error());
    return needs_.steps.step(uid);  // a pod that ends meanwhile has waited for this
  }
  const base::Time now = needs_.loop.now();
  if (!answer.ok() && answer.error().code == base::Code::kGone) {
    of.phase = RunPhase::kEnded;
    of.ended = {of.id, {}, now, 137, "ContainerStatusUnknown", reason_text(answer.error().message)};
    lose_sandbox(worker);
    return needs_.steps.step(uid);
  }
  of.waiting_reason.clear();
  of.waiting_message.clear();
  of.retry_at = {};
  of.retry_back_off = {};
  needs_.events.record(worker.pod, "Normal", "Created", base::format("Created container: {}", of.name), of);
  if (answer.ok()) return runs(worker, index, *answer);
  of.phase = RunPhase::kEnded;
  of.started = now;
  of.started_at = of.ended_at = needs_.loop.uptime();
  of.ended = {of.id, {}, now, 128, "StartError", message_text(answer.error().message)};
  of.back_off = of.attempt == 0 ? base::Duration{} : next_back_off(of.back_off);
  needs_.events.record(worker.pod, "Warning", "Failed", "Error: " + answer.error().message, of);
  needs_.steps.step(uid);
}

void PodContainers::runs(PodWorker& worker, std::size_t index, const StartedContainer& answer) {
  const std::string uid(api::uid_of(worker.pod));
  ContainerState& of = worker.state.containers[index];
  of.phase = RunPhase::kRunning;
  of.started = answer.started;
  of.started_at = needs_.loop.uptime();
  of.actual = needs_.loop.runtime()->actual_resources(uid, of.id, of.held);
  needs_.events.record(worker.pod, "Normal", "Started", base::format("Started container {}", of.name), of);
  needs_.checks.post_start(worker, index);
  if (const auto early = early_exits_.find(of.id); early != early_exits_.end()) {
    const ExitedContainer exit = early->second;
    early_exits_.erase(early);
    return exited(exit);
  }
  needs_.steps.step(uid);
}

void PodContainers::exited(const ExitedContainer& exit) {
  const auto found = index_.find(exit.id);
  if (found == index_.end()) return;
  PodWorker* worker = needs_.pods.find(found->second.first);
  if (worker == nullptr) return;
  ContainerState& container = worker->state.containers[found->second.second];
  if (container.id != exit.id) return;
  if (container.phase == RunPhase::kStarting) {
    early_exits_[exit.id] = exit;
    return;
  }
  if (container.phase != RunPhase::kRunning) return;
  needs_.checks.end(found->second.first, exit.id);
  container.phase = RunPhase::kEnded;
  container.ended = {exit.id, container.started, exit.finished, exit.exit_code, {}, {}};
  if (container.ended.finished < container.started) container.ended.finished = container.started;
  container.ended_at = needs_.loop.uptime();
  container.ended.reason = exit.out_of_memory ? "OOMKilled" : exit.exit_code == 0 ? "Completed" : "Error";
  container.ended.message = last_words(*worker, container);
  const bool first = container.attempt == 0;
  const bool forgiven = container.ended_at - container.started_at >= kBackOffForgiven;
  container.back_off = first || forgiven ? base::Duration{} : next_back_off(container.back_off);
  if (container.back_off > base::Duration{}) back_off(*worker, container);
  if (!api::is_deleting(worker->pod) && !stopping_ &&
      restart_rule(container_spec(worker->pod, container), exit.exit_code) == "RestartAllContainers") {
    const base::Duration pause = container.back_off;
    restart_all(worker->state);
    container.back_off = pause;
    worker->state.sandbox = Sandbox::kLost;
  }
  // A start forgets this run, and with it what was found.
  const std::string uid = found->second.first;
  needs_.steps.step(uid);
}

void PodContainers::back_off(PodWorker& worker, ContainerState& container) {
  if (!will_restart(worker.pod, container) || api::is_deleting(worker.pod) || is_over(worker.pod, worker.state) ||
      stopping_)
    return;
  needs_.events.record(worker.pod, "Warning", "BackOff",
                       base::format("Back-off restarting failed container {} in pod {}_{}({})", container.name,
                                    api::name_of(worker.pod), api::namespace_of(worker.pod), api::uid_of(worker.pod)),
                       container);
}

void PodContainers::forget(const PodWorker& worker) {
  for (const ContainerState& container : worker.state.containers) index_.erase(container.id);
}

void PodContainers::lose_sandbox(PodWorker& worker) {
  worker.state.sandbox = Sandbox::kLost;
  begin_anew(worker.pod, worker.state, needs_.loop.now());
  needs_.events.record(worker.pod, "Normal", "SandboxChanged",
                       "Pod sandbox changed, it will be killed and re-created.");
}

std::string PodContainers::last_words(const PodWorker& worker, const ContainerState& container) const {
  const bool or_log =
      container.ended.exit_code != 0 &&
      container_spec(worker.pod, container)["terminationMessagePolicy"].as_string() == "FallbackToLogsOnError";
  const std::string words =
      needs_.loop.runtime()->termination_message(std::string(api::uid_of(worker.pod)), container.ended.id, or_log);
  // COMPAT(pipeline-reports): of one container, so that a pod's status stays smaller than an object may be.
  const bool reports =
      container.name == "main" && (api::label_of(worker.pod, "pipelines.kubeflow.org/v2_component") == "true" ||
                                   !api::label_of(worker.pod, "workflows.argoproj.io/workflow").empty());
  return reports ? report_text(words) : message_text(words);
}

}  // namespace node
