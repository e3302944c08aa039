// Probes and lifecycle hooks as effects: checks that begin, and what their answers do to a container.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "node/agent/core/agent_loop.h"
#include "node/agent/core/pod_events.h"
#include "node/agent/core/pod_steps.h"
#include "node/agent/core/pod_table.h"
#include "node/agent/pods/check.h"
#include "node/machine/machine.h"

namespace node {

// Owns the checks that are under way, by pod, and the means to make them. Asks the machine for signals, and for a new
// look at the pod after each answer. Loop thread only.
class PodChecks {
 public:
  PodChecks(AgentLoop& loop, const Options& options, const PodTable& pods, PodEvents& events, PodSteps& steps);

  void probe(PodWorker& worker, std::size_t index, ProbeKind kind);
  void post_start(PodWorker& worker, std::size_t index);
  // SIGTERM, after the container's preStop hook.
  void terminate(PodWorker& worker, std::size_t index, base::Duration grace);
  // Ends the checks of a container, and of a pod.
  void end(const std::string& uid, const std::string& container_id);
  void forget(const std::string& uid) { checks_.erase(uid); }

 private:
  using Done = void (PodChecks::*)(PodWorker&, ContainerState&, const std::string&, const CheckAnswer&);

  void check(PodWorker& worker, std::size_t index, std::string what, const api::Json& handler, base::Duration timeout,
             Done done);
  void probed(PodWorker& worker, ContainerState& container, const std::string& what, const CheckAnswer& answer);
  void post_started(PodWorker& worker, ContainerState& container, const std::string& what, const CheckAnswer& answer);
  void pre_stopped(PodWorker& worker, ContainerState& container, const std::string& what, const CheckAnswer& answer);
  void send_term(PodWorker& worker, ContainerState& container);

  AgentLoop& loop_;
  const Options& options_;
  const PodTable& pods_;
  PodEvents& events_;
  PodSteps& steps_;
  std::unique_ptr<api::PodStreams> streams_;
  std::unique_ptr<rt::GrpcIo> grpc_;  // from the first probe of that kind on
  // By uid: checks that are under way, by "CONTAINER_ID Readiness". They go before the means that they use.
  std::map<std::string, std::map<std::string, std::shared_ptr<Check>>> checks_;
};

}  // namespace node
