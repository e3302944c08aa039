// How sandboxes are made and taken away.
#include "node/agent/pods/pod_sandboxes.h"

#include "api/meta/resource.h"
#include "base/format.h"
#include "node/machine/container_text.h"
#include "node/pod/pod_plan.h"
#include "node/pod/pod_specs.h"
#include "node/pod/volumes.h"

namespace node {

using api::Json;

namespace {

const api::ResourceId kRuntimeClasses{"node.k8s.io", "v1", "runtimeclasses"};

}  // namespace

PodSandboxes::PodSandboxes(Needs needs, client::Client& client)
    : needs_(needs), runtime_classes_(client, needs.loop.env(), kRuntimeClasses) {}

base::Result<std::string> PodSandboxes::handler_of(const Json& pod) const {
  const std::string name = pod["spec"]["runtimeClassName"].str();
  if (name.empty()) return std::string();
  const Json* found = runtime_classes_.find(name);
  if (found == nullptr)
    return base::make_error(base::Code::kNotFound, base::format("runtimeclass.node.k8s.io \"{}\" not found", name));
  return (*found)["handler"].str();
}

void PodSandboxes::report_left_out(const PodWorker& worker) {
  std::string missing;
  for (const std::string& word : left_out(worker.pod, needs_.services.has_proxy()))
    missing += (missing.empty() ? "" : ", ") + word;
  if (!missing.empty())
    needs_.events.record(worker.pod, "Warning", "NotSupported", "this node runs the pod without: " + missing);
}

void PodSandboxes::prepare(PodWorker& worker) {
  PodState& state = worker.state;
  if (!state.start_time.is_set()) {
    state.start_time = needs_.loop.now();
    report_left_out(worker);
  }
  if (needs_.tokens.fetch(worker) || needs_.devices.waits(worker)) return;  // comes back with them
  auto volumes_found = volumes_of(worker.pod, needs_.lookups.of(worker));
  if (!volumes_found.ok()) return fail_and_retry(worker, "FailedMount", volumes_found.error().message);
  auto handler = handler_of(worker.pod);
  if (!handler.ok())
    return fail_and_retry(worker, "FailedCreatePodSandBox", "Failed to create pod sandbox: " + handler.error().message);
  std::string why;
  const ClaimKeeper::Answer claimed = needs_.claims.prepare(worker, why);
  if (claimed == ClaimKeeper::Answer::kWait) return;  // comes back with them
  if (claimed == ClaimKeeper::Answer::kFailed)
    return fail_and_retry(worker, "FailedPrepareDynamicResources", "Failed to prepare dynamic resources: " + why);
  SandboxSpec spec = sandbox_spec(worker.pod);
  spec.handler = std::move(*handler);
  spec.volumes = std::move(*volumes_found);
  spec.address = state.ip;
  for (const ContainerState& container : state.containers)
    if (container.first_attempt > 0) spec.first_attempts[container.name] = container.first_attempt;
  make(worker, std::move(spec));
}

void PodSandboxes::make(PodWorker& worker, SandboxSpec spec) {
  const std::string uid(api::uid_of(worker.pod));
  needs_.volumes.laid_out(uid, spec.volumes);
  worker.state.sandbox = Sandbox::kPreparing;
  worker.pod_held = pod_amounts(worker.pod);
  needs_.work.run<base::Result<std::string>>(
      uid,
      [spec, write = needs_.resizes.write_of(worker)](Runtime& machine) -> base::Result<std::string> {
        TRY_VOID(write());
        return machine.prepare(spec);
      },
      [this, uid](base::Result<std::string> ip) {
        PodWorker* found = needs_.pods.find(uid);
        if (found == nullptr) return;
        if (!ip.ok()) return made(uid, ip.error());
        found->state.ip = *ip;
        // It begins once the rules of policies are set that speak of its address.
        needs_.policies.guard(uid);
      },
      PodCalls::Part::kBegins);
}

void PodSandboxes::made(const std::string& uid, const base::Status& answer) {
  PodWorker& worker = *needs_.pods.find(uid);
  if (answer.ok()) {
    worker.state.sandbox = Sandbox::kReady;
    worker.state.prepare_back_off = {};
    worker.state.held = worker.set_aside[std::string(kWholePod)];
    needs_.services.refresh();
    needs_.volumes.refresh(uid);  // objects may have changed meanwhile
  } else if (answer.error().code == base::Code::kInvalid) {
    failed(worker, "FailedMount", answer.error().message);
  } else {
    failed(worker, "FailedCreatePodSandBox", "Failed to create pod sandbox: " + answer.error().message);
  }
  needs_.steps.step(uid);
}

void PodSandboxes::failed(PodWorker& worker, const char* reason, const std::string& message) {
  needs_.events.record(worker.pod, "Warning", reason, message);
  worker.state.sandbox = Sandbox::kNone;
  worker.state.prepare_back_off = doubled(worker.state.prepare_back_off, base::milliseconds(500), base::minutes(2));
  worker.state.prepare_at = needs_.loop.uptime() + worker.state.prepare_back_off;
}

// A pod whose needs are not met is tried again after its pause.
void PodSandboxes::fail_and_retry(PodWorker& worker, const char* reason, const std::string& message) {
  failed(worker, reason, message);
  needs_.steps.step_after(std::string(api::uid_of(worker.pod)), worker.state.prepare_back_off);
}

void PodSandboxes::remove(PodWorker& worker) {
  const std::string uid(api::uid_of(worker.pod));
  worker.state.sandbox = Sandbox::kRemoving;
  needs_.work.run<int>(
      uid,
      [uid](Runtime& machine) {
        machine.remove(uid, false);
        return 0;
      },
      [this, uid](int) {
        PodWorker* found = needs_.pods.find(uid);
        if (found == nullptr) return;
        found->state.sandbox = Sandbox::kGone;
        needs_.services.refresh();
        needs_.policies.refresh();
        needs_.steps.step(uid);
      });
}

}  // namespace node
