// The means that all parts of the agent use: the world outside, and what the agent was told at its start.
#pragma once

#include "client/client.h"
#include "colocation/agent.h"
#include "colocation/policy/features.h"
#include "rt/env.h"
#include "rt/loop/guard.h"

namespace colocation {

inline constexpr base::Duration kTick = base::seconds(1);         // between two looks at counters
inline constexpr base::Duration kFullPeriod = base::seconds(10);  // between two looks at everything

// The means outlive the parts, and hold nothing that the agent has found out.
struct AgentMeans {
  rt::Env& env;
  client::Client& client;
  const AgentOptions& options;
  const SupportedFeatures& supported;
  const rt::Guard& guard;
};

}  // namespace colocation
