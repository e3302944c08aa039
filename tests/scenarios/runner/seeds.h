// Random clusters: decided by the fast and the plain scheduler, which must agree and break no invariant.
#pragma once

#include <cstdint>
#include <string>

namespace scenario {

struct Seeds {
  std::uint64_t first = 1;
  std::uint64_t count = 0;
  double seconds = 0;  // 0: as long as it takes
  bool shrinks = true;
};

// Prints each failing cluster as a scenario; the number of them.
int run_seeds(const Seeds& seeds);

}  // namespace scenario
