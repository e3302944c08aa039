// Which pods go because they keep more on the disk than they may.
#pragma once

#include <atomic>
#include <deque>
#include <memory>

#include "node/agent/core/agent_loop.h"
#include "node/agent/core/pod_events.h"
#include "node/agent/core/pod_steps.h"
#include "node/agent/core/pod_table.h"

namespace node {

// Owns the round of measurements: one pod after the other, off the loop. Asks the table which pods there are and the
// runtime for their use, and evicts the pods that use too much. Loop thread only.
class DiskWatch {
 public:
  DiskWatch(AgentLoop& loop, const PodTable& pods, PodEvents& events, PodSteps& steps);

  void start() { look_later(); }
  // Also ends the measurement that is under way.
  void stop();

 private:
  void look_later();
  void look();
  void measure_next();
  void evict(PodWorker& worker, const std::string& why);

  AgentLoop& loop_;
  const PodTable& pods_;
  PodEvents& events_;
  PodSteps& steps_;
  std::deque<DiskPlaces> due_;  // to be measured in this round
  bool stopped_ = false;
  // The measurement that is under way comes to nothing.
  std::shared_ptr<std::atomic<bool>> given_up_ = std::make_shared<std::atomic<bool>>(false);
};

}  // namespace node
