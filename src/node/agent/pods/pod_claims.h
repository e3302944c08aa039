// Resource claims as the agent's pods have them: their drivers, grants for containers, the end.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "node/agent/core/agent_loop.h"
#include "node/agent/core/pod_events.h"
#include "node/agent/core/pod_steps.h"
#include "node/agent/core/pod_table.h"
#include "node/dra/claim_keeper.h"
#include "node/dra/slice_wiper.h"
#include "node/machine/machine.h"

namespace node {

// Owns the drivers, the keeper of claims, and the wiper of slices that drivers leave behind. Asks for a new look at
// pods whose claims are ready or given back. Loop thread only.
class PodClaims {
 public:
  // `released` follows each answer about claims that are given back. `drivers` is null where none can register.
  PodClaims(AgentLoop& loop, client::Client& client, const Options& options, std::unique_ptr<DraDrivers> drivers,
            const PodTable& pods, PodEvents& events, PodSteps& steps, std::function<void()> released);

  // The folder of the claims that are kept; empty: nothing is.
  static std::string folder(const Options& options);
  // `kept`: read_local_claims() of the folder.
  void start(LocalClaims kept);
  // The agent stops: drivers that come now are not started, and pods do not wait for them.
  void stop() { stopping_ = true; }
  void close();

  ClaimKeeper::Answer prepare(const PodWorker& worker, std::string& why);
  // False: the grant comes later, with a new look at the pod.
  bool give(const PodWorker& worker, const ContainerState& container, base::Result<ContainerSpec>& spec);
  // Gives back the claims of a pod of which nothing runs and nothing will, before the pod is reported to be over, so
  // that nobody is given a device that its driver has not taken back.
  void release(const PodWorker& worker);
  // Whether drivers have not taken back yet what the pod has.
  bool awaits_drivers(const PodWorker& worker) const;
  ClaimKeeper& keeper() { return keeper_; }
  const ClaimKeeper& keeper() const { return keeper_; }

 private:
  ClaimKeeper::Callbacks callbacks(std::function<void()> released);
  void driver_came(const std::string& driver);

  const PodTable& pods_;
  PodEvents& events_;
  PodSteps& steps_;
  std::unique_ptr<DraDrivers> drivers_;
  ClaimKeeper keeper_;
  SliceWiper slices_;
  bool stopping_ = false;
};

}  // namespace node
