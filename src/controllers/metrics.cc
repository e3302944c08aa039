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
      {"training_operator_jobs_created_total", kCounter, {"job_namespace", "framework"}, "Training jobs seen first."},
      {"training_operator_jobs_deleted_total",
       kCounter,
       {"job_namespace", "framework"},
       "Training jobs deleted at the end of their time to live."},
      {"training_operator_jobs_successful_total",
       kCounter,
       {"job_namespace", "framework"},
       "Training jobs that succeeded."},
      {"training_operator_jobs_failed_total", kCounter, {"job_namespace", "framework"}, "Training jobs that failed."},
      {"training_operator_jobs_restarted_total",
       kCounter,
       {"job_namespace", "framework"},
       "Pods of training jobs that failed and are made again."},
      {"created_pods_total", kCounter, {}, "Pods made for training jobs."},
      {"deleted_pods_total", kCounter, {}, "Pods of training jobs deleted."},
      {"failed_pods_total", kCounter, {}, "Pods of training jobs that could not be made."},
      {"succeeded_service_creation_total", kCounter, {}, "Services made for training jobs."},
      {"failed_service_creation_total", kCounter, {}, "Services of training jobs that could not be made."},
      {"created_pod_groups_total", kCounter, {}, "PodGroups made for training jobs."},
      {"deleted_pod_groups_total", kCounter, {}, "PodGroups of training jobs deleted."},
      {"notebook_running", kGauge, {"namespace"}, "Notebooks that are ready."},
      {"notebook_create_total", kCounter, {"namespace"}, "StatefulSets made for notebooks."},
      {"notebook_create_failed_total", kCounter, {"namespace"}, "StatefulSets of notebooks that could not be made."},
      {"notebook_culling_total", kCounter, {"namespace", "name"}, "Notebooks stopped because nobody used them."},
      {"last_notebook_culling_timestamp_seconds",
       kGauge,
       {"namespace", "name"},
       "Time at which the notebook was stopped because nobody used it."},
  };
  return kRows;
}

}  // namespace controllers
