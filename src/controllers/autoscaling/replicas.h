// From what pods use to how many of them there should be. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "api/json/json.h"
#include "api/node_usage.h"
#include "base/result.h"
#include "base/time.h"

namespace controllers::autoscaling {

// The measurements, and the pods that they are of.
struct Sight {
  std::vector<const api::Json*> pods;                 // those that the target's selector matches
  std::map<std::string, const api::PodUsage*> usage;  // by uid
  base::Time measured;                                // when
  base::Duration window;                              // over how long
  base::Time now;
};

// By how much the mean may differ from its target before anything is done, of one: 0.1 is a tenth.
struct Tolerance {
  double up = 0.1;
  double down = 0.1;
};

struct Proposal {
  std::int64_t replicas = 0;
  std::string metric;  // "cpu resource utilization (percentage of request)"
  api::Json status;    // an entry of status.currentMetrics
};

// The number of replicas that one entry of spec.metrics wants. Errors: `reason` of the condition ScalingActive is
// reason_for_failure().
base::Result<Proposal> propose(const api::Json& metric, const Sight& sight, std::int64_t current, Tolerance tolerance);
std::string_view reason_for_failure(const api::Json& metric);

}  // namespace controllers::autoscaling
