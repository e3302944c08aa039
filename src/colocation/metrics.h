// The metrics of co-location.
#pragma once

#include <span>

#include "base/metrics.h"

namespace colocation {

std::span<const base::MetricRow> metric_rows();

}  // namespace colocation
