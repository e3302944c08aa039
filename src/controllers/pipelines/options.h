// The settings of the controllers of pipelines.
#pragma once

#include <string>

#include "base/metrics.h"

namespace controllers::pipelines {

struct Options {
  std::string scheduler = "volcano";           // of the pods of steps
  std::string claim = "mlpipeline-artifacts";  // of each namespace, for artifacts
  std::string claim_size = "20Gi";
  base::Metrics* metrics = nullptr;  // may be null
};

}  // namespace controllers::pipelines
