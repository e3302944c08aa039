// The agents of all simulated nodes, as one process: they register nodes, run pods on the machines, and report.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "client/client.h"
#include "rt/env.h"
#include "sim/world/definition.h"
#include "sim/world/machines.h"

namespace sim {

struct NodeSettings {
  int nodes = 3;
  std::string cpu = "8";
  std::string memory = "16Gi";
  int pods = 110;
  Settings::Range start_delay_ns{100'000'000, 2'000'000'000};
  Settings::Range stop_delay_ns{50'000'000, 1'500'000'000};
};

// How long a pod runs and how it ends is in its annotations; without them it ends well after a second.
inline constexpr std::string_view kRunsFor = "sim.volcano.sh/runs-for";
inline constexpr std::string_view kExitCode = "sim.volcano.sh/exit-code";
inline constexpr std::string_view kLastWords = "sim.volcano.sh/last-words";  // the termination message of a good end

class Nodes {
 public:
  // All but the callbacks outlive it. Loop thread only.
  Nodes(rt::Env& env, client::Client& client, Machines& machines, const NodeSettings& settings);
  ~Nodes();

  void start();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sim
