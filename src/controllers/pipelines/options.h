// The settings of the controllers of pipelines.
#pragma once

#include <cstdint>
#include <string>

#include "base/metrics.h"

namespace controllers::pipelines {

struct Options {
  std::string scheduler = "volcano";           // of the pods of steps
  std::string claim = "mlpipeline-artifacts";  // of each namespace, for artifacts
  std::string claim_size = "20Gi";
  // The part of a step's termination message that nodes keep: the outputs of a step are reported in it.
  std::int64_t report_bytes_max = 4096;
  // The server of pipelines (ADDRESS:PORT), to which the launcher sends larger ones; empty: there is none.
  std::string report_address = {};
  base::Metrics* metrics = nullptr;  // may be null
};

}  // namespace controllers::pipelines
