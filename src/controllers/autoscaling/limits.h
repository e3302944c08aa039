// How fast the number of replicas may follow what the metrics want: stabilization and policies. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/json/json.h"
#include "base/time.h"

namespace controllers::autoscaling {

struct Recommendation {
  base::Time at;
  std::int64_t replicas = 0;
};
struct Change {
  base::Time at;
  std::int64_t count = 0;  // of replicas added, or taken away
};

// The memory of one autoscaler. Bounded by the longest window (an hour) at a look every 15 s.
struct Memory {
  std::vector<Recommendation> recommendations;
  std::vector<Change> ups, downs;
};

// A condition that the limits give.
struct ConditionFinding {
  bool holds = false;
  std::string reason;
  std::string message;
};

struct Limited {
  std::int64_t replicas = 0;
  ConditionFinding able;     // AbleToScale
  ConditionFinding limited;  // ScalingLimited
};

struct Bounds {
  std::int64_t current = 0;
  std::int64_t desired = 0;  // what the metrics want
  std::int64_t min = 1;
  std::int64_t max = 1;
};

// `memory` gets the recommendation, and forgets what is too old to count. `behavior`: spec.behavior, which may be null.
Limited limit(const api::Json& behavior, const Bounds& bounds, base::Time now, Memory& memory);

}  // namespace controllers::autoscaling
