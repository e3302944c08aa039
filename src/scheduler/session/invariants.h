// Facts that must hold after every cycle, whatever was decided. For scenarios, random clusters and simulated worlds.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "scheduler/model/model.h"
#include "scheduler/session/decider.h"

namespace scheduler {

// Taken before the cycle: what is wrong already is not the cycle's doing, unless it gets worse.
struct Before {
  std::map<std::string, std::int64_t> full_nodes;   // "node dimension" that are over their allocatable: idle
  std::map<std::string, std::int64_t> full_queues;  // "queue dimension" that are over their capability: allocated
  std::uint64_t hash = 0;                           // state_hash()
  std::size_t ignored = 0;                          // resources that are not counted
};
Before look_before(const Model& model, const Config& config);

// The facts that the cycle broke, in words; empty as it should be. Called before the plan takes effect. `report` holds
// tasks.
std::vector<std::string> broken_invariants(const Model& model, const Config& config, const Before& before,
                                           const CycleReport& report);

// The columns of nodes and the sums of jobs and queues are what adding up the tasks gives.
std::vector<std::string> wrong_sums(const Model& model);

}  // namespace scheduler
