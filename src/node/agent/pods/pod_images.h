// Images of containers: their pulls, and the pauses after pulls that fail.
#pragma once

#include <string>

#include "node/agent/core/agent_loop.h"
#include "node/agent/core/pod_events.h"
#include "node/agent/core/pod_steps.h"
#include "node/agent/core/pod_table.h"
#include "node/agent/pods/pod_lookups.h"
#include "node/agent/pods/pod_reports.h"
#include "node/machine/pull_slots.h"

namespace node {

// Owns the turns of pulls by registry. Asks the lookups for the secrets of registries, the machine for images, and for
// a new look at pods whose pull is over. Loop thread only.
class PodImages {
 public:
  PodImages(AgentLoop& loop, const PodTable& pods, PodEvents& events, PodSteps& steps, const PodLookups& lookups,
            PodReports& reports);

  void pull(PodWorker& worker, std::size_t index);

 private:
  std::string keys_for(const PodWorker& worker);
  void came(PodWorker& worker, std::size_t index, const std::string& image, const ImageAnswer& answer,
            base::Duration waited);
  void failed(PodWorker& worker, std::size_t index, const std::string& image, const base::Error& error);
  void back_off(const std::string& uid, std::size_t index, const std::string& image, const std::string& why);

  AgentLoop& loop_;
  const PodTable& pods_;
  PodEvents& events_;
  PodSteps& steps_;
  const PodLookups& lookups_;
  PodReports& reports_;
  PullSlots slots_;
};

}  // namespace node
