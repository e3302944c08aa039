// Co-location in `volcano up`: the agent of vc-agent, on a loop of its own, over the groups that the node agent makes.
#pragma once

#include <functional>
#include <string>

#include "base/metrics.h"
#include "colocation/agent.h"
#include "main/host/base/component.h"
#include "main/host/flags/up_flags.h"

namespace volcano_main {

class ColocationHost {
 public:
  // An agent is started with --colocation alone.
  void start(const UpOptions& options, apiserver::Api& api, base::Metrics& metrics);
  // Takes back what was set, while the server still answers.
  void stop();
  // The page /debug/colocation; any thread.
  void answer_page(std::function<void(std::string)> answer);

 private:
  Component<colocation::Agent> agent_;
};

// The error of a start that asks for co-location where pods have no control groups.
base::Status check_colocation(const UpOptions& options, bool has_containers);

}  // namespace volcano_main
