// The shared parts of all training jobs: their replicas, how they are run, and how it goes (training.md 2).
#pragma once

#include "api/meta/resource.h"
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
  static constexpr std::string_view kSchemaName = "org.kubeflow.v1.SchedulingPolicy";
  static constexpr auto fields() {
    return rows(field<std::int32_t>("minAvailable", "Gang size; absent: all replicas."),
                field<Text>("queue", "The queue that pays; cannot be changed."),
                field<ResourceList>("minResources", "What the gang needs; absent: what its containers ask for."),
                field<Text>("priorityClass", "Priority class of the group."),
                field<std::int32_t>("scheduleTimeoutSeconds", "For other gang schedulers; has no effect."));
  }
};

struct TrainingRunPolicy {
  static constexpr std::string_view kSchemaName = "org.kubeflow.v1.RunPolicy";
  static constexpr auto fields() {
    return rows(
        field<Text>("cleanPodPolicy", "Pods that go when the job finishes: All, Running or None (the default)."),
        field<std::int32_t>("ttlSecondsAfterFinished", "Seconds from finish to deletion."),
        field<std::int64_t>("activeDeadlineSeconds", "Seconds after its start at which the job fails."),
        field<std::int32_t>("backoffLimit", "Restarts before the job fails."),
        field<bool>("suspend", {.default_json = "false"}, "Whether the job has no pods for now."),
        field<Text>("managedBy", "Who runs the job; absent: the training operator. Cannot be changed."),
        field<TrainingSchedulingPolicy>("schedulingPolicy", "How the gang is scheduled."));
  }
};

struct TrainingReplicaSpec {
  static constexpr std::string_view kSchemaName = "org.kubeflow.v1.ReplicaSpec";
  static constexpr auto fields() {
    return rows(
        field<std::int32_t>("replicas", "Number of pods."),
        field<Json>("template", {.core_type = "core.v1.PodTemplateSpec"}, "What each pod looks like."),
        field<Text>("restartPolicy", "Always, OnFailure, Never, or ExitCode: codes from 128 on are tried again."));
  }
};
using TrainingReplicas = std::map<std::string, TrainingReplicaSpec, std::less<>>;

struct TrainingCondition {
  static constexpr std::string_view kSchemaName = "org.kubeflow.v1.JobCondition";
  static constexpr auto fields() {
    return rows(
        field<Text>("type", {.required = true}, "Created, Running, Restarting, Succeeded, Suspended or Failed."),
        field<Text>("status", {.required = true}, "True, False or Unknown."), field<Text>("reason", "One word."),
        field<Text>("message", "For a person."), field<base::Time>("lastUpdateTime", "When it was written last."),
        field<base::Time>("lastTransitionTime", "When its status changed last."));
  }
};

struct TrainingReplicaStatus {
  static constexpr std::string_view kSchemaName = "org.kubeflow.v1.ReplicaStatus";
  static constexpr auto fields() {
    return rows(field<std::int32_t>("active", "Pods that run."),
                field<std::int32_t>("succeeded", "Pods that succeeded."),
                field<std::int32_t>("failed", "Pods that failed."),
                field<Json>("labelSelector", {.core_type = "meta.v1.LabelSelector"}, "Never set."),
                field<Text>("selector", "Which pods they are."));
  }
};

struct TrainingJobStatus {
  static constexpr std::string_view kSchemaName = "org.kubeflow.v1.JobStatus";
  static constexpr auto fields() {
    return rows(field<List<TrainingCondition>>("conditions", "What happened; the last one is the state."),
                field<Map<TrainingReplicaStatus>>("replicaStatuses", "Pods by type of replica."),
                field<base::Time>("startTime", "When the job was started or resumed."),
                field<base::Time>("completionTime", "When it succeeded or failed."),
                field<base::Time>("lastReconcileTime", "When it last waited to be admitted."),
                field<std::int32_t>("restartCount", "Pods that were made again because they failed."));
  }
};

struct KeyAndValue {
  static constexpr std::string_view kSchemaName = "org.kubeflow.v1.RDZVConf";
  static constexpr auto fields() {
    return rows(field<Text>("key", "Name of the setting."), field<Text>("value", "Its value."));
  }
};

}  // namespace api
