// The line about a pod: READY, STATUS and RESTARTS as `kubectl get pods` prints them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "api/json/json.h"
#include "base/time.h"

namespace api {

struct PodSummary {
  std::string status;      // the most telling reason of phase, init containers and containers
  std::int64_t ready = 0;  // containers, sidecars (init containers that restart always) among them
  std::int64_t total = 0;
  std::int64_t restarts = 0;  // of init containers while these run, else of sidecars and containers
  std::optional<base::Time> last_restart;
};

// The rules are those of Kubernetes 1.36's printer (printPod).
PodSummary summary_of(const Json& pod);

}  // namespace api
