// Which gauges tell what a queue has, wants and may have? Names of spec/scheduler 7 without the prefix.
#pragma once

#include <string>

#include "scheduler/framework/plugin.h"
#include "scheduler/model/model.h"

namespace scheduler {

// `what`: allocated, request, deserved, capacity, real_capacity or inqueue. Amounts are in stored units: thousandths
// but for memory.
inline void report_amounts(const MetricSink& sink, const Model& model, const std::string& queue, std::string_view what,
                           const Resource& amount) {
  const std::string prefix = "queue_" + std::string(what);
  sink(prefix + "_milli_cpu", {queue}, amount.get(kCpu));
  sink(prefix + "_memory_bytes", {queue}, amount.get(kMemory));
  for (Dim d = 2; d < amount.size(); ++d) {
    if (amount.has(d)) sink(prefix + "_scalar_resources", {queue, model.dimensions.name(d)}, amount.get(d));
  }
}

}  // namespace scheduler
