// Containers of pods: their starts, the ends that the machine reports, and their last words.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "node/agent/core/pod_work.h"
#include "node/agent/pods/pod_checks.h"
#include "node/agent/pods/pod_claims.h"
#include "node/agent/pods/pod_devices.h"
#include "node/agent/pods/pod_lookups.h"
#include "node/agent/pods/pod_resizes.h"

namespace node {

// Owns the index of containers by id, and ends that came before their start was reported. Asks devices and claims for
// grants, the machine for starts, and for a new look at the pod after each change. Loop thread only.
class PodContainers {
 public:
  struct Needs {
    AgentLoop& loop;
    const PodTable& pods;
    PodWork& work;
    PodEvents& events;
    PodSteps& steps;
    const PodLookups& lookups;
    PodDevices& devices;
    PodClaims& claims;
    PodResizes& resizes;
    PodChecks& checks;
  };
  explicit PodContainers(Needs needs) : needs_(needs) {}

  void start(PodWorker& worker, std::size_t index);
  void exited(const ExitedContainer& exit);
  // The agent stops: ends of containers are followed by no restart.
  void stop() { stopping_ = true; }
  // A container that ran before this agent began.
  void add(const std::string& id, const std::string& uid, std::size_t index) { index_[id] = {uid, index}; }
  void forget(const PodWorker& worker);
  // The last words of a container in kEnded.
  std::string last_words(const PodWorker& worker, const ContainerState& container) const;
  // The pod's sandbox is not there any more: its containers begin anew.
  void lose_sandbox(PodWorker& worker);

 private:
  base::Result<ContainerSpec> spec_of(const PodWorker& worker, const ContainerState& container) const;
  void started(PodWorker& worker, std::size_t index, base::Result<StartedContainer> answer);
  void runs(PodWorker& worker, std::size_t index, const StartedContainer& answer);
  void cannot_be_made(PodWorker& worker, ContainerState& container, const base::Error& why);
  void back_off(PodWorker& worker, ContainerState& container);

  Needs needs_;
  std::map<std::string, std::pair<std::string, std::size_t>> index_;  // by id: pod uid, index
  std::map<std::string, ExitedContainer> early_exits_;                // by id
  bool stopping_ = false;
};

}  // namespace node
