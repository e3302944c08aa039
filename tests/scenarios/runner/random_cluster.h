// A random small cluster as a scenario: what a person could have written, of every feature a little.
#pragma once

#include <cstdint>
#include <string>

namespace scenario {

// Equal seeds give equal texts. No expected blocks.
std::string random_scenario(std::uint64_t seed);
// An allocation of every eighth seed each: only what decide_by_the_book() knows, of queues and gangs, and of devices.
std::string random_allocation(std::uint64_t seed);
std::string random_devices(std::uint64_t seed);

}  // namespace scenario
