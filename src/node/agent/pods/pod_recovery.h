// How the agent takes pods up again after it was away: the API says one half, this machine the other.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "node/agent/core/agent_loop.h"
#include "node/agent/core/pod_table.h"
#include "node/agent/core/pod_work.h"
#include "node/agent/pods/pod_containers.h"

namespace node {

// Owns what the machine had of pods when the agent began, until the pod is seen. Asks the machine for containers of the
// moment, and tells the containers which of them run. Loop thread only.
class PodRecovery {
 public:
  PodRecovery(AgentLoop& loop, PodWork& work, PodContainers& containers);

  void start(std::vector<RecoveredPod> found);
  // Joins the API's object with what was found on this machine.
  void adopt(PodWorker& worker);
  // Erases what was found of pods that no longer exist.
  void forget_others();

 private:
  void adopt_container(PodWorker& worker, std::size_t index, const RecoveredPod* here);
  base::Duration uptime_of(base::Time past) const;  // a time in the future counts as now

  AgentLoop& loop_;
  PodWork& work_;
  PodContainers& containers_;
  std::map<std::string, RecoveredPod> found_;  // by uid
};

}  // namespace node
