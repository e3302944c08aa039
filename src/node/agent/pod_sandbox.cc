// The surroundings of a pod's containers: how it is made, once all is there that it needs, and how it is taken away.
#include "api/meta/resource.h"
#include "base/format.h"
#include "node/agent/agent_state.h"
#include "node/pod/pod_specs.h"
#include "node/pod/volumes.h"

namespace node {

using api::Json;

base::Result<std::string> Agent::State::handler_of(const Json& pod) const {
  const std::string name = pod["spec"]["runtimeClassName"].str();
  if (name.empty()) return std::string();
  const Json* found = runtime_classes.find(name);
  if (found == nullptr)
    return base::make_error(base::Code::kNotFound, base::format("runtimeclass.node.k8s.io \"{}\" not found", name));
  return (*found)["handler"].str();
}

void Agent::State::prepare(PodWorker& worker) {
  PodState& state = worker.state;
  if (!state.start_time.is_set()) {
    state.start_time = env.now();
    std::string missing;
    for (const std::string& word : left_out(worker.pod, services.has_proxy()))
      missing += (missing.empty() ? "" : ", ") + word;
    if (!missing.empty()) event(worker.pod, "Warning", "NotSupported", "this node runs the pod without: " + missing);
  }
  if (fetch_tokens(worker) || waits_for_devices(worker)) return;  // comes back with them
  const std::string uid(api::uid_of(worker.pod));
  auto volumes_found = volumes_of(worker.pod, lookups(worker));
  if (!volumes_found.ok()) {
    prepare_failed(worker, "FailedMount", volumes_found.error().message);
    return step_after(uid, state.prepare_back_off);
  }
  auto handler = handler_of(worker.pod);
  if (!handler.ok()) {
    prepare_failed(worker, "FailedCreatePodSandBox", "Failed to create pod sandbox: " + handler.error().message);
    return step_after(uid, state.prepare_back_off);
  }
  std::string why;
  const ClaimKeeper::Answer claimed = resource_claims.prepare(worker.pod, why);
  if (claimed == ClaimKeeper::Answer::kWait) return;  // comes back with them
  if (claimed == ClaimKeeper::Answer::kFailed) {
    prepare_failed(worker, "FailedPrepareDynamicResources", "Failed to prepare dynamic resources: " + why);
    return step_after(uid, state.prepare_back_off);
  }
  SandboxSpec spec = sandbox_spec(worker.pod);
  spec.handler = std::move(*handler);
  spec.volumes = std::move(*volumes_found);
  spec.address = state.ip;
  for (const ContainerState& container : state.containers)
    if (container.first_attempt > 0) spec.first_attempts[container.name] = container.first_attempt;
  for (const VolumeSpec& volume : spec.volumes) {
    if (volume.kind != VolumeSpec::Kind::kFiles) continue;
    worker.volume_versions[volume.name] = version_of(volume);
  }
  state.sandbox = Sandbox::kPreparing;
  worker.pod_held = pod_amounts(worker.pod);
  call_for<base::Result<std::string>>(
      uid,
      [spec, write = allocation_write(worker)](Runtime& machine) -> base::Result<std::string> {
        TRY_VOID(write());
        return machine.prepare(spec);
      },
      [this, uid](base::Result<std::string> ip) {
        PodWorker* found = find(uid);
        if (found == nullptr) return;
        if (!ip.ok()) return sandbox_made(uid, ip.error());
        found->state.ip = *ip;
        // It begins once the rules of policies are set that speak of its address.
        policies.guard(uid);
      },
      PodCalls::Part::kBegins);
}

void Agent::State::sandbox_made(const std::string& uid, const base::Status& made) {
  PodWorker& worker = *find(uid);
  if (made.ok()) {
    worker.state.sandbox = Sandbox::kReady;
    worker.state.prepare_back_off = {};
    worker.state.held = worker.set_aside[std::string(kWholePod)];
    services.refresh();
    refresh_volumes_of(uid, worker);  // objects may have changed meanwhile
  } else if (made.error().code == base::Code::kInvalid) {
    prepare_failed(worker, "FailedMount", made.error().message);
  } else {
    prepare_failed(worker, "FailedCreatePodSandBox", "Failed to create pod sandbox: " + made.error().message);
  }
  step(uid);
}

void Agent::State::prepare_failed(PodWorker& worker, const char* reason, const std::string& message) {
  event(worker.pod, "Warning", reason, message);
  worker.state.sandbox = Sandbox::kNone;
  worker.state.prepare_back_off = doubled(worker.state.prepare_back_off, base::milliseconds(500), base::minutes(2));
  worker.state.prepare_at = env.uptime() + worker.state.prepare_back_off;
}

void Agent::State::remove(PodWorker& worker) {
  const std::string uid(api::uid_of(worker.pod));
  worker.state.sandbox = Sandbox::kRemoving;
  call_for<int>(
      uid,
      [uid](Runtime& machine) {
        machine.remove(uid, false);
        return 0;
      },
      [this, uid](int) {
        PodWorker* found = find(uid);
        if (found == nullptr) return check_stopped();
        found->state.sandbox = Sandbox::kGone;
        services.refresh();
        policies.refresh();
        step(uid);
      });
}

}  // namespace node
