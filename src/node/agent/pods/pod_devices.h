// Devices as the agent's pods have them: admission, grants for containers, the end.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "node/agent/core/pod_events.h"
#include "node/agent/core/pod_steps.h"
#include "node/agent/core/pod_table.h"
#include "node/devices/device_manager.h"
#include "node/machine/machine.h"

namespace node {

// Owns the device manager. Asks for a new look at pods whose devices have come, and for a new Node when amounts change.
// Loop thread only.
class PodDevices {
 public:
  PodDevices(rt::Env& env, const Options& options, PodEvents& events, PodSteps& steps,
             std::function<void()> node_changed);

  DeviceManager& manager() { return manager_; }
  const DeviceManager& manager() const { return manager_; }
  // Whether the pod lacks devices for good; then it has its failure.
  bool refuse(PodWorker& worker);
  bool waits(const PodWorker& worker);
  // False: the grant comes later, with a new look at the pod.
  bool give(const PodWorker& worker, base::Result<ContainerSpec>& spec);
  // Takes back the devices of a pod of which nothing runs and nothing will.
  void release(const PodWorker& worker);

 private:
  PodEvents& events_;
  DeviceManager manager_;
};

}  // namespace node
