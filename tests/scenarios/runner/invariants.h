// What must hold after every cycle, whatever was decided.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "scheduler/framework/decider.h"
#include "scheduler/model/model.h"

namespace scenario {

// Taken before the cycle: what is already wrong is not the cycle's doing.
struct Before {
  std::set<std::string> full_nodes;   // "node dimension" that are over their allocatable
  std::set<std::string> full_queues;  // "queue dimension" that are over their capability
  std::uint64_t hash = 0;             // of every column and sum
};
Before look_before(const scheduler::Model& model);

// What the cycle broke, in words; empty as it should be. Called before the plan takes effect.
std::vector<std::string> broken_invariants(const scheduler::Model& model, const scheduler::Config& config,
                                           const Before& before, const scheduler::CycleReport& report);

// The columns of nodes and the sums of jobs and queues are what adding up the tasks gives.
std::vector<std::string> wrong_sums(const scheduler::Model& model);

}  // namespace scenario
