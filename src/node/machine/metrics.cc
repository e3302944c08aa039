// The rows, and how they are counted into.
#include "node/machine/metrics.h"

namespace node {
namespace {

// A call of a driver ends after 45 seconds.
const std::vector<double> kBounds = base::exponential_bounds(0.1, 40, 15);

}  // namespace

std::span<const base::MetricRow> metric_rows() {
  static const base::MetricRow kRows[] = {
      {"dra_operations_duration_seconds",
       base::MetricType::kHistogram,
       {"operation_name", "is_error"},
       "How long it took to make all resource claims of a pod ready (PrepareResources), or to give them back "
       "(UnprepareResources); each try.",
       kBounds},
      {"dra_grpc_operations_duration_seconds",
       base::MetricType::kHistogram,
       {"driver_name", "method_name", "grpc_status_code"},
       "How long drivers of Dynamic Resource Allocation took to answer.",
       kBounds},
      {"volcano_node_service_targets_left_out",
       base::MetricType::kGauge,
       {},
       "Targets of services (ports times endpoints) that are beyond what this node tells the kernel of."},
      {"volcano_node_service_rules_refused_total",
       base::MetricType::kCounter,
       {},
       "Times that the kernel refused the rules of all services together."},
      {"volcano_node_exec_wait_seconds",
       base::MetricType::kHistogram,
       {"of"},
       "How long commands in containers waited for their turn to begin: of users (exec), and of the node (probes, "
       "hooks).",
       kBounds}};
  return kRows;
}

void ClaimMetrics::called(const std::string& driver, const std::string& method, const std::string& code,
                          base::Duration took) const {
  if (metrics_ != nullptr)
    metrics_->histogram("dra_grpc_operations_duration_seconds", {driver, method, code}).observe(took.seconds());
}

void ClaimMetrics::worked(const char* operation, bool failed, base::Duration took) const {
  if (metrics_ != nullptr)
    metrics_->histogram("dra_operations_duration_seconds", {operation, failed ? "true" : "false"})
        .observe(took.seconds());
}

}  // namespace node
