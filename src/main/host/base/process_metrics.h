// The use of resources by this process, in the words of Prometheus' client libraries.
#pragma once

#include <span>
#include <string>

#include "base/metrics.h"

namespace volcano_main {

std::span<const base::MetricRow> process_metric_rows();

// The rows with what they are now, from /proc: text as /metrics answers it. Any thread.
std::string process_metrics();

}  // namespace volcano_main
