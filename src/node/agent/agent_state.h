// The agent's parts, how they are wired, and the order in which they begin and end.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "node/agent/agent.h"
#include "node/agent/node/disk_watch.h"
#include "node/agent/pods/plan_runner.h"
#include "node/agent/pods/pod_recovery.h"

namespace node {

// Each part owns its state, and gets in its constructor what it asks of others. A member is destroyed before those
// above it, which it may use. Loop thread only.
struct Agent::State final : std::enable_shared_from_this<Agent::State>, PodSteps {
  State(rt::Env& env, client::Client& client, Options o, std::unique_ptr<Runtime> runtime, MachineFacts facts,
        std::unique_ptr<DraDrivers> drivers);

  Options options;
  AgentLoop loop;
  PodEvents events;
  PodTable pods;
  PodWork work;
  PodDevices devices;
  NodeObject node;
  PodClaims claims;
  NodeServices services;
  NodePolicies policies;
  DiskWatch disk;
  PodTokens tokens;
  PodLookups lookups;
  PodVolumes volumes;
  PodResizes resizes;
  PodReports reports;
  PodChecks checks;
  PodImages images;
  PodSandboxes sandboxes;
  PodContainers containers;
  PodAdmission admission;
  PodRecovery recovery;
  PlanRunner plans;

  std::function<void(base::Error)> failed;
  std::function<void()> stopped;
  bool opening = false;  // the call that opens the runtime is under way
  bool stopping = false;
  bool impatient = false;  // the time that pods and calls had when stopping is over
  bool closing = false;
  std::string no_runtime;  // why there is none

  void step(const std::string& uid) override { plans.step(uid); }
  void step_after(const std::string& uid, base::Duration delay) override { plans.step_after(uid, delay); }

  void open();
  void opened(base::Result<std::vector<RecoveredPod>> found);
  void cannot_run_pods(base::Error why);
  void follow_pods();
  void know_all_pods();
  void pod_changed(const api::Json* before, const api::Json* after);
  void pod_gone(const std::string& uid);
  void stop();
  void end_pods();
  void give_up_waiting();
  void check_stopped();
  bool waits_for_pods() const;
  void close();
};

}  // namespace node
