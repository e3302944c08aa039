// The metrics of the controllers, one row each.
#include "controllers/metrics.h"

namespace controllers {

std::span<const base::MetricRow> metric_rows() {
  using enum base::MetricType;
  static const base::MetricRow kRows[] = {
      {"volcano_job_completed_phase_count",
       kCounter,
       {"job_name", "queue_name"},
       "Entries of a job into phase Completed."},
      {"volcano_job_failed_phase_count", kCounter, {"job_name", "queue_name"}, "Entries of a job into phase Failed."},
      {"volcano_controller_job_to_pod_creation_latency_milliseconds",
       kHistogram,
       {},
       "Time from a job's creation to the creation of each of its pods.",
       base::exponential_bounds(50, 60000, 30)},
      {"volcano_queue_pod_group_inqueue_count", kGauge, {"queue_name"}, "PodGroups of a queue in phase Inqueue."},
      {"volcano_queue_pod_group_pending_count", kGauge, {"queue_name"}, "PodGroups of a queue in phase Pending."},
      {"volcano_queue_pod_group_running_count", kGauge, {"queue_name"}, "PodGroups of a queue in phase Running."},
      {"volcano_queue_pod_group_unknown_count", kGauge, {"queue_name"}, "PodGroups of a queue in phase Unknown."},
      {"volcano_queue_pod_group_completed_count", kGauge, {"queue_name"}, "PodGroups of a queue in phase Completed."},
      {"volcano_jobflow_succeed_phase_count",
       kCounter,
       {"jobflow_namespace"},
       "Entries of a job flow into phase Succeed."},
      {"volcano_jobflow_failed_phase_count",
       kCounter,
       {"jobflow_namespace"},
       "Entries of a job flow into phase Failed."},
  };
  return kRows;
}

}  // namespace controllers
