// The counters of the controllers.
#pragma once

#include <span>

#include "base/metrics.h"

namespace controllers {

std::span<const base::MetricRow> metric_rows();

}  // namespace controllers
