// Devices as the agent's pods have them: admission, what containers get, the end.
#include "api/meta/resource.h"
#include "node/agent/agent_state.h"

namespace node {

using api::Json;

DeviceManager::Callbacks Agent::State::device_callbacks() {
  return {.node_changed = [this] { node.refresh(); },
          .pod_changed = [this](const std::string& uid) { step(uid); },
          .warn = [this](const char* reason, const std::string& message) { events.warn_about_node(reason, message); }};
}

bool Agent::State::lacks_devices(PodWorker& worker) {
  std::string why;
  if (devices.admit(worker.pod, why) != DeviceManager::Admission::kRefused) return false;
  worker.state.failure_reason = "UnexpectedAdmissionError";
  worker.state.failure_message = "Pod was rejected: " + why;
  event(worker.pod, "Warning", "UnexpectedAdmissionError", why);
  return true;
}

bool Agent::State::waits_for_devices(PodWorker& worker) {
  std::string why;
  return devices.admit(worker.pod, why) == DeviceManager::Admission::kWait;
}

bool Agent::State::give_devices(const PodWorker& worker, base::Result<ContainerSpec>& spec) {
  if (!spec.ok()) return true;
  const std::string uid(api::uid_of(worker.pod));
  std::string why;
  const DeviceManager::Admission prepared = devices.prepare(uid, spec->name, spec->attempt, why);
  if (prepared == DeviceManager::Admission::kWait) return false;
  if (prepared == DeviceManager::Admission::kRefused)
    spec = base::make_error(base::Code::kUnavailable, why);
  else if (const DeviceGrant* grant = devices.grant(uid, spec->name))
    spec->devices = *grant;
  return true;
}

// As soon as nothing of the pod runs and nothing will: the scheduler gives them to others from then on, too.
void Agent::State::release_devices(const PodWorker& worker) {
  for (const ContainerState& container : worker.state.containers)
    if (container.phase == RunPhase::kStarting || container.phase == RunPhase::kRunning) return;
  if (worker.settled || worker.state.sandbox == Sandbox::kGone || is_over(worker.pod, worker.state))
    devices.release(std::string(api::uid_of(worker.pod)));
}

}  // namespace node
