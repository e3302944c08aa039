// Resizing in place as effects: the amounts set aside for pods, how their containers come to have them, and the reports
// about it.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "node/agent/core/agent_loop.h"
#include "node/agent/core/pod_events.h"
#include "node/agent/core/pod_steps.h"
#include "node/agent/core/pod_table.h"
#include "node/agent/core/pod_work.h"
#include "node/agent/node/node_object.h"

namespace node {

// Owns the amounts that were found on disk until their pod is seen. Asks the Node for its room, the machine to change
// limits, and for a new look at pods whose resize goes on. Loop thread only.
class PodResizes {
 public:
  PodResizes(AgentLoop& loop, std::string folder, const NodeObject& node, const PodTable& pods, PodWork& work,
             PodEvents& events, PodSteps& steps);

  // The folder of the amounts; empty: nothing is kept.
  static std::string folder(const Options& options);
  // `found`: read_allocations() of the folder.
  void start(std::vector<Allocation> found);
  void stop() { stopping_ = true; }
  // Erases what was found of pods that no longer exist.
  void forget_others();
  // The amounts of a pod that is new to this agent.
  void begin(PodWorker& worker);
  // `pod` as the API has it now.
  void take_spec(PodWorker& worker, const api::Json& pod);
  // Decides again about the pods that wait for room, later, because the caller is in the middle of another pod.
  void retry();
  // Brings the containers that run to what is set aside, one step at a time.
  void carry_out(PodWorker& worker);
  // Writes what is set aside, unless that is what is written; blocks, off the loop.
  std::function<base::Status()> write_of(PodWorker& worker);

 private:
  void decide(PodWorker& worker);
  api::ResourceList taken_by_others(const PodWorker& worker) const;
  void apply(PodWorker& worker, const ResizeStep& next);
  void applied(PodWorker& worker, const PodResize& change, const Allocation& after, const base::Status& done);
  void keep(PodWorker& worker);

  AgentLoop& loop_;
  std::string folder_;
  const NodeObject& node_;
  const PodTable& pods_;
  PodWork& work_;
  PodEvents& events_;
  PodSteps& steps_;
  std::map<std::string, Allocation> found_;  // by uid
  bool stopping_ = false;
};

}  // namespace node
