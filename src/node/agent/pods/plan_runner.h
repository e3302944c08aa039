// How the plan of a pod becomes effects, step by step.
#pragma once

#include <functional>
#include <string>

#include "node/agent/pods/pod_admission.h"
#include "node/agent/pods/pod_containers.h"
#include "node/agent/pods/pod_images.h"
#include "node/agent/pods/pod_reports.h"
#include "node/agent/pods/pod_sandboxes.h"
#include "node/pod/pod_plan.h"

namespace node {

// Owns nothing but its share in workers: their timer, and whether a step is under way. Asks for a plan (node/pod), and
// hands each action to the part of the agent that carries it out. Loop thread only.
class PlanRunner {
 public:
  struct Needs {
    AgentLoop& loop;
    const Options& options;
    const PodTable& pods;
    PodEvents& events;
    PodAdmission& admission;
    PodTokens& tokens;
    PodDevices& devices;
    PodClaims& claims;
    PodResizes& resizes;
    PodImages& images;
    PodSandboxes& sandboxes;
    PodContainers& containers;
    PodChecks& checks;
    PodReports& reports;
  };
  // `stepped` follows each step.
  PlanRunner(Needs needs, std::function<void()> stepped) : needs_(needs), stepped_(std::move(stepped)) {}

  void step(const std::string& uid);
  void step_after(const std::string& uid, base::Duration delay);

 private:
  void act(PodWorker& worker, const Action& action);
  void end_container(PodWorker& worker, const Action& action);
  void hold_to_deadline(PodWorker& worker, base::Time now);

  Needs needs_;
  std::function<void()> stepped_;
};

}  // namespace node
