// A component's client to the simulated API server: every message takes time, and some are lost.
#pragma once

#include <memory>
#include <string>

#include "client/client.h"
#include "sim/world/env.h"
#include "sim/world/faults.h"
#include "sim/world/server.h"

namespace sim {

// The state that all connections share. Everything it refers to outlives the clients.
struct Network {
  Clock& clock;
  Server& server;
  Truth& truth;
  Chronicle& chronicle;
  NetworkFaults faults;  // as they are now
  Latency latency;
  Owner wire = clock.make_owner();  // messages under way survive the crash of both ends
};

// Belongs to one process: no callback comes after the process's `env` is gone. `name` is the user and field manager.
std::unique_ptr<client::Client> make_network_client(Network& network, SimEnv& env, std::string name,
                                                    std::uint64_t seed);

}  // namespace sim
