// The metrics of the node agent.
#pragma once

#include <span>
#include <string>

#include "base/metrics.h"
#include "base/time.h"

namespace node {

std::span<const base::MetricRow> metric_rows();

// The counters of resource claims and their drivers, under a kubelet's names.
class ClaimMetrics {
 public:
  // `metrics`: with metric_rows(); null: nothing is counted.
  explicit ClaimMetrics(base::Metrics* metrics) : metrics_(metrics) {}
  // A call of a driver has ended. `method`: "/SERVICE/METHOD"; `code`: as gRPC names it.
  void called(const std::string& driver, const std::string& method, const std::string& code, base::Duration took) const;
  // A pod has its claims, or has given them back, or this try failed.
  void prepared(bool failed, base::Duration took) const { worked("PrepareResources", failed, took); }
  void unprepared(bool failed, base::Duration took) const { worked("UnprepareResources", failed, took); }

 private:
  void worked(const char* operation, bool failed, base::Duration took) const;

  base::Metrics* metrics_;
};

}  // namespace node
