// Is the model exactly as it was?
#pragma once

#include <cstdint>

#include "scheduler/model/model.h"

namespace scheduler {

// A hash of every column and sum, where each task is, what pods select one another by, and what tasks were promised:
// volumes, devices, CPUs, claims. Two states that decide alike have one hash, whatever was tried in between. As costly
// as the model is large: for tests and simulated worlds.
std::uint64_t state_hash(const Model& model);

}  // namespace scheduler
