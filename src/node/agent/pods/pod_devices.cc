// How devices are given to pods and taken back.
#include "node/agent/pods/pod_devices.h"

#include "api/meta/resource.h"
#include "node/pod/pod_plan.h"

namespace node {

PodDevices::PodDevices(rt::Env& env, const Options& options, PodEvents& events, PodSteps& steps,
                       std::function<void()> node_changed)
    : events_(events),
      manager_(env, options.devices, options.data_dir + "/devices",
               {.node_changed = std::move(node_changed),
                .pod_changed = [&steps](const std::string& uid) { steps.step(uid); },
                .warn = [&events](const char* reason,
                                  const std::string& message) { events.warn_about_node(reason, message); }}) {}

bool PodDevices::refuse(PodWorker& worker) {
  std::string why;
  if (manager_.admit(worker.pod, why) != DeviceManager::Admission::kRefused) return false;
  worker.state.failure_reason = "UnexpectedAdmissionError";
  worker.state.failure_message = "Pod was rejected: " + why;
  events_.record(worker.pod, "Warning", "UnexpectedAdmissionError", why);
  return true;
}

bool PodDevices::waits(const PodWorker& worker) {
  std::string why;
  return manager_.admit(worker.pod, why) == DeviceManager::Admission::kWait;
}

bool PodDevices::give(const PodWorker& worker, base::Result<ContainerSpec>& spec) {
  if (!spec.ok()) return true;
  const std::string uid(api::uid_of(worker.pod));
  std::string why;
  const DeviceManager::Admission prepared = manager_.prepare(uid, spec->name, spec->attempt, why);
  if (prepared == DeviceManager::Admission::kWait) return false;
  if (prepared == DeviceManager::Admission::kRefused)
    spec = base::make_error(base::Code::kUnavailable, why);
  else if (const DeviceGrant* grant = manager_.grant(uid, spec->name))
    spec->devices = *grant;
  return true;
}

// The scheduler gives the devices to others from then on, too.
void PodDevices::release(const PodWorker& worker) {
  for (const ContainerState& container : worker.state.containers)
    if (container.phase == RunPhase::kStarting || container.phase == RunPhase::kRunning) return;
  if (worker.settled || worker.state.sandbox == Sandbox::kGone || is_over(worker.pod, worker.state))
    manager_.release(std::string(api::uid_of(worker.pod)));
}

}  // namespace node
