// Statuses of pods as the API server gets them, and the last DELETE of a pod that is over.
#pragma once

#include "client/client.h"
#include "node/agent/core/agent_loop.h"
#include "node/agent/core/pod_steps.h"
#include "node/agent/core/pod_table.h"
#include "node/agent/pods/pod_claims.h"
#include "node/agent/pods/pod_devices.h"

namespace node {

// Writes to the API server, one status of a pod at a time. Asks devices and claims for the health of devices, and
// claims for what drivers have not taken back. Loop thread only.
class PodReports {
 public:
  PodReports(AgentLoop& loop, client::Client& client, const Options& options, const PodTable& pods, PodSteps& steps,
             const PodDevices& devices, const PodClaims& claims);

  // Writes the status, unless that is what was written last.
  void report(PodWorker& worker);
  // The server keeps a pod with a deletion timestamp until its node says that nothing of it runs.
  void finalize(PodWorker& worker);

 private:
  api::Json status_of(const PodWorker& worker) const;
  void add_health(const PodWorker& worker, api::Json& status) const;
  void write(const PodWorker& worker, api::Json status);
  void written(PodWorker& worker, const base::Result<api::Json>& answer);

  AgentLoop& loop_;
  client::Client& client_;
  const Options& options_;
  const PodTable& pods_;
  PodSteps& steps_;
  const PodDevices& devices_;
  const PodClaims& claims_;
};

}  // namespace node
