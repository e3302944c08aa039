// The scheduler's metrics. Names and labels are those of spec/scheduler 7; a row is here when it is counted.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/metrics.h"
#include "base/time.h"
#include "scheduler/effects/differences.h"
#include "scheduler/session/decider.h"

namespace scheduler {

std::span<const base::MetricRow> metric_rows();

// The scheduler's loop only. The registry has metric_rows() and outlives it.
class CycleMetrics {
 public:
  // `groups`: false where only single pods are decided, and no group waits for this scheduler.
  explicit CycleMetrics(base::Metrics& metrics, bool groups = true) : metrics_(metrics), groups_(groups) {}

  // After each cycle, before its plan is sent.
  void record(const CycleReport& report, base::Duration took, base::Time now, const Model& model,
              const Decider& decider);
  // The gauges of plugins and of single jobs, brought up to date; costs what there is of both. Between cycles.
  void settle(const Model& model, const Decider& decider);
  // A pod has come to a stage: Watched, PreBound, Bound.
  void record_stage(std::string_view stage, base::Time created, base::Time now);
  // The differences of a dry run.
  void record_differences(const std::vector<Difference>& news);
  // A part of its way took so long: PreBind, Bind.
  void record_part(std::string_view part, base::Duration took);

 private:
  using Series = std::pair<std::string, std::vector<std::string>>;  // name, values of labels

  void record_times(const CycleReport& report, base::Duration took);
  void record_binds(const CycleReport& report, base::Time now, const Model& model);
  void record_waiting(const Decider& decider, base::Time now);
  void settle_waiting(const Model& model, const Decider& decider);
  void see_job(const Job& job, base::Time now);
  void forget_jobs(const Model& model);

  base::Metrics& metrics_;
  const bool groups_;
  std::set<std::string> waiting_;            // names of jobs with a gauge
  std::map<std::string, std::string> seen_;  // jobs with gauges of their own, by "ns/name": the queue in their labels
  std::map<std::string, int> names_;         // how many of them have one name
  // Findings of cycles since the series were brought up to date: a group waits, and may be gone by then.
  struct Wait {
    Text key;
    base::Time since;
    std::uint32_t cycles = 0;
  };
  std::unordered_map<JobId, Wait> waits_;
  std::set<Series> reported_;  // by plugins, last time
};

}  // namespace scheduler
