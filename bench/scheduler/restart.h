// The cost of a scheduler's start beside a full cluster.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "pages.h"

namespace bench {

struct Restart {
  double decided_s = 0;         // CPU, until the first bind is written
  double settled_s = 0;         // and until the statuses of groups are, of which all differ
  std::int64_t rest_bytes = 0;  // resident then
};

// The scheduler as it is, whose client reads pages without a network.
base::Result<Restart> measure_restart(ClusterSize size, bool protobuf);

}  // namespace bench
