// Which pods this node refuses before anything of them starts.
#pragma once

#include <optional>

#include "node/agent/core/agent_loop.h"
#include "node/agent/core/pod_events.h"
#include "node/agent/core/pod_table.h"
#include "node/agent/node/node_object.h"
#include "node/agent/pods/pod_devices.h"

namespace node {

// Owns nothing. Asks the machine what it can run, the Node for its room and taints, the other pods for what they have,
// and the devices for theirs. Loop thread only.
class PodAdmission {
 public:
  PodAdmission(AgentLoop& loop, const PodTable& pods, const NodeObject& node, PodDevices& devices, PodEvents& events);

  // A pod that is refused has its failure afterwards.
  void admit(PodWorker& worker);

 private:
  std::optional<Shortage> shortage_for(const PodWorker& worker) const;
  bool lacks_ports(const PodWorker& worker) const;
  void fail_predicate(PodWorker& worker, const char* name, const char* description);

  AgentLoop& loop_;
  const PodTable& pods_;
  const NodeObject& node_;
  PodDevices& devices_;
  PodEvents& events_;
};

}  // namespace node
