// The shared parts of all training jobs: their replicas, how they are run, and how it goes (training.md 2).
#pragma once

#include "api/resource.h"
#include "api/schema/fields.h"

namespace api {

namespace resources {
inline const ResourceId kPyTorchJobs{"kubeflow.org", "v1", "pytorchjobs"};
inline const ResourceId kTfJobs{"kubeflow.org", "v1", "tfjobs"};
inline const ResourceId kMpiJobs{"kubeflow.org", "v1", "mpijobs"};
inline const ResourceId kXgboostJobs{"kubeflow.org", "v1", "xgboostjobs"};
inline const ResourceId kPaddleJobs{"kubeflow.org", "v1", "paddlejobs"};
inline const ResourceId kJaxJobs{"kubeflow.org", "v1", "jaxjobs"};
inline const ResourceId kSshMpiJobs{"kubeflow.org", "v2beta1", "mpijobs"};
}  // namespace resources

// The versions that MPIJobs have. A cluster has one of them, because their names are the same.
inline constexpr std::string_view kMpiJobVersions[] = {"v1", "v2beta1"};

struct TrainingSchedulingPolicy {
  std::optional<std::int32_t> min_available;
  std::string queue;
  std::optional<ResourceList> min_resources;
  std::string priority_class;
  std::optional<std::int32_t> schedule_timeout_seconds;

  static constexpr std::string_view kSchemaName = "org.kubeflow.v1.SchedulingPolicy";
  static constexpr auto fields() {
    using S = TrainingSchedulingPolicy;
    return rows(
        field<&S::min_available>("minAvailable", "Gang size; absent: all replicas."),
        field<&S::queue>("queue", "The queue that pays; cannot be changed."),
        field<&S::min_resources>("minResources", "What the gang needs; absent: what its containers ask for."),
        field<&S::priority_class>("priorityClass", "Priority class of the group."),
        field<&S::schedule_timeout_seconds>("scheduleTimeoutSeconds", "For other gang schedulers; has no effect."));
  }
};

struct TrainingRunPolicy {
  std::string clean_pod_policy;
  std::optional<std::int32_t> ttl_seconds_after_finished;
  std::optional<std::int64_t> active_deadline_seconds;
  std::optional<std::int32_t> backoff_limit;
  std::optional<bool> suspend;
  std::string managed_by;
  std::optional<TrainingSchedulingPolicy> scheduling_policy;

  static constexpr std::string_view kSchemaName = "org.kubeflow.v1.RunPolicy";
  static constexpr auto fields() {
    using R = TrainingRunPolicy;
    return rows(
        field<&R::clean_pod_policy>("cleanPodPolicy",
                                    "Pods that go when the job finishes: All, Running or None (the default)."),
        field<&R::ttl_seconds_after_finished>("ttlSecondsAfterFinished", "Seconds from finish to deletion."),
        field<&R::active_deadline_seconds>("activeDeadlineSeconds", "Seconds after its start at which the job fails."),
        field<&R::backoff_limit>("backoffLimit", "Restarts before the job fails."),
        field<&R::suspend>("suspend", {.default_json = "false"}, "Whether the job has no pods for now."),
        field<&R::managed_by>("managedBy", "Who runs the job; absent: the training operator. Cannot be changed."),
        field<&R::scheduling_policy>("schedulingPolicy", "How the gang is scheduled."));
  }
};

struct TrainingReplicaSpec {
  std::optional<std::int32_t> replicas;
  Json pod_template;  // core/v1 PodTemplateSpec
  std::string restart_policy;

  static constexpr std::string_view kSchemaName = "org.kubeflow.v1.ReplicaSpec";
  static constexpr auto fields() {
    using R = TrainingReplicaSpec;
    return rows(
        field<&R::replicas>("replicas", "Number of pods."),
        field<&R::pod_template>("template", {.core_type = "core.v1.PodTemplateSpec"}, "What each pod looks like."),
        field<&R::restart_policy>("restartPolicy",
                                  "Always, OnFailure, Never, or ExitCode: codes from 128 on are tried again."));
  }
};
using TrainingReplicas = std::map<std::string, TrainingReplicaSpec, std::less<>>;

struct TrainingCondition {
  std::string type;
  std::string status;
  std::string reason;
  std::string message;
  base::Time last_update_time;
  base::Time last_transition_time;

  static constexpr std::string_view kSchemaName = "org.kubeflow.v1.JobCondition";
  static constexpr auto fields() {
    using C = TrainingCondition;
    return rows(
        field<&C::type>("type", {.required = true}, "Created, Running, Restarting, Succeeded, Suspended or Failed."),
        field<&C::status>("status", {.required = true}, "True, False or Unknown."),
        field<&C::reason>("reason", "One word."), field<&C::message>("message", "For a person."),
        field<&C::last_update_time>("lastUpdateTime", "When it was written last."),
        field<&C::last_transition_time>("lastTransitionTime", "When its status changed last."));
  }
};

struct TrainingReplicaStatus {
  std::int32_t active = 0;
  std::int32_t succeeded = 0;
  std::int32_t failed = 0;
  Json label_selector;
  std::string selector;

  static constexpr std::string_view kSchemaName = "org.kubeflow.v1.ReplicaStatus";
  static constexpr auto fields() {
    using R = TrainingReplicaStatus;
    return rows(field<&R::active>("active", "Pods that run."),
                field<&R::succeeded>("succeeded", "Pods that succeeded."),
                field<&R::failed>("failed", "Pods that failed."),
                field<&R::label_selector>("labelSelector", {.core_type = "meta.v1.LabelSelector"}, "Never set."),
                field<&R::selector>("selector", "Which pods they are."));
  }
};

struct TrainingJobStatus {
  std::vector<TrainingCondition> conditions;
  std::map<std::string, TrainingReplicaStatus, std::less<>> replica_statuses;
  base::Time start_time;
  base::Time completion_time;
  base::Time last_reconcile_time;
  std::int32_t restart_count = 0;

  static constexpr std::string_view kSchemaName = "org.kubeflow.v1.JobStatus";
  static constexpr auto fields() {
    using S = TrainingJobStatus;
    return rows(field<&S::conditions>("conditions", "What happened; the last one is the state."),
                field<&S::replica_statuses>("replicaStatuses", "Pods by type of replica."),
                field<&S::start_time>("startTime", "When the job was started or resumed."),
                field<&S::completion_time>("completionTime", "When it succeeded or failed."),
                field<&S::last_reconcile_time>("lastReconcileTime", "When it last waited to be admitted."),
                field<&S::restart_count>("restartCount", "Pods that were made again because they failed."));
  }
};

struct KeyAndValue {
  std::string key;
  std::string value;

  static constexpr std::string_view kSchemaName = "org.kubeflow.v1.RDZVConf";
  static constexpr auto fields() {
    using K = KeyAndValue;
    return rows(field<&K::key>("key", "Name of the setting."), field<&K::value>("value", "Its value."));
  }
};

}  // namespace api
