// What does the scheduler count? Names and labels are those of spec section 7; a row is here when it is counted.
#pragma once

#include <set>
#include <span>
#include <string>

#include "base/metrics.h"
#include "base/time.h"
#include "scheduler/framework/decider.h"

namespace scheduler {

std::span<const base::MetricRow> metric_rows();

// The scheduler's loop only. The registry has metric_rows() and outlives it.
class CycleMetrics {
 public:
  explicit CycleMetrics(base::Metrics& metrics) : metrics_(metrics) {}

  // After each cycle, before its plan is sent.
  void note(const CycleReport& report, base::Duration took, base::Time now, const Model& model, const Decider& decider);

 private:
  void note_waiting(const Decider& decider);
  void note_queues(const Plan& plan);

  base::Metrics& metrics_;
  std::set<std::string> waiting_;  // names of jobs with a gauge
};

}  // namespace scheduler
