// The surroundings of a pod's containers: how they are made, once all is there that the pod needs, and taken away.
#pragma once

#include <string>

#include "client/watch/informer.h"
#include "node/agent/core/pod_work.h"
#include "node/agent/node/node_policies.h"
#include "node/agent/node/node_services.h"
#include "node/agent/pods/pod_claims.h"
#include "node/agent/pods/pod_devices.h"
#include "node/agent/pods/pod_resizes.h"
#include "node/agent/pods/pod_tokens.h"
#include "node/agent/pods/pod_volumes.h"

namespace node {

// Owns the watch of RuntimeClasses. Asks tokens, devices, claims and lookups for what a sandbox needs, the machine for
// the sandbox, and the policies to let the pod begin. Loop thread only.
class PodSandboxes {
 public:
  struct Needs {
    AgentLoop& loop;
    const PodTable& pods;
    PodWork& work;
    PodEvents& events;
    PodSteps& steps;
    const PodLookups& lookups;
    PodTokens& tokens;
    PodDevices& devices;
    PodClaims& claims;
    PodResizes& resizes;
    PodVolumes& volumes;
    NodeServices& services;
    NodePolicies& policies;
  };
  PodSandboxes(Needs needs, client::Client& client);

  client::Informer& watch() { return runtime_classes_; }
  void prepare(PodWorker& worker);
  // The machine's answer for the pod of `uid`, which is there.
  void made(const std::string& uid, const base::Status& made);
  void remove(PodWorker& worker);

 private:
  void report_left_out(const PodWorker& worker);
  base::Result<std::string> handler_of(const api::Json& pod) const;  // empty: the pod names no class
  void make(PodWorker& worker, SandboxSpec spec);
  void failed(PodWorker& worker, const char* reason, const std::string& message);
  void fail_and_retry(PodWorker& worker, const char* reason, const std::string& message);

  Needs needs_;
  client::Informer runtime_classes_;
};

}  // namespace node
