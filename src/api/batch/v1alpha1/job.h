// A Job is a set of tasks, each a number of equal pods, scheduled as one gang and watched by policies.
#pragma once

#include "api/meta/owner_reference.h"
#include "api/scheduling/v1beta1/topology.h"

namespace api {

struct LifecyclePolicy {
  static constexpr std::string_view kEvents =
      "*|PodPending|PodRunning|PodFailed|PodEvicted|Unknown|TaskCompleted|OutOfSync|CommandIssued|JobUpdated|"
      "TaskFailed";
  static constexpr std::string_view kSchemaName = "sh.volcano.batch.v1alpha1.LifecyclePolicy";
  static constexpr auto fields() {
    return rows(field<Text>("action", "What is done when the rule matches."),
                field<Text>("event", {.enumeration = kEvents}, "The event it matches."),
                field<List<Text>>("events", {.enumeration = kEvents}, "More events it matches."),
                field<std::int32_t>("exitCode", "Matches the exit code of a failed pod; excludes events."),
                field<base::Duration>("timeout", "Delay before the action runs."));
  }
};

struct DependsOn {
  static constexpr std::string_view kSchemaName = "sh.volcano.batch.v1alpha1.DependsOn";
  static constexpr auto fields() {
    return rows(field<List<Text>>("name", "Tasks this one waits for."),
                field<Text>("iteration", "Whether any or all of them must be ready."));
  }
};

struct PartitionPolicySpec {
  static constexpr std::string_view kSchemaName = "sh.volcano.batch.v1alpha1.PartitionPolicySpec";
  static constexpr auto fields() {
    return rows(
        field<std::int32_t>("totalPartitions", {.required = true, .minimum = 1}, "Number of groups."),
        field<std::int32_t>("partitionSize", {.required = true, .minimum = 1}, "Pods in one group."),
        field<NetworkTopologySpec>("networkTopology", "Constraint of each group."),
        field<std::int32_t>("minPartitions", {.default_json = "0", .minimum = 0}, "Groups that must be schedulable."));
  }
};

struct TaskSpec {
  static constexpr std::string_view kSchemaName = "sh.volcano.batch.v1alpha1.TaskSpec";
  static constexpr auto fields() {
    return rows(
        field<Text>("name", {.length_max = 63, .pattern = kDnsLabelPattern}, "Unique in the job; part of pod names."),
        field<std::int32_t>("replicas", {.minimum = 0}, "Number of pods."),
        field<std::int32_t>("minAvailable", {.minimum = 0}, "The task's own gang size."),
        field<Json>("template", {.core_type = "core.v1.PodTemplateSpec"}, "What each pod looks like."),
        field<List<LifecyclePolicy>>("policies", "Rules of this task, evaluated before those of the job."),
        field<Text>("topologyPolicy", {.enumeration = "none|best-effort|restricted|single-numa-node"},
                    "NUMA policy of the pods."),
        field<std::int32_t>("maxRetry", {.minimum = 0}, "Container restarts at which TaskFailed is raised."),
        field<DependsOn>("dependsOn", "Tasks that start first."),
        field<PartitionPolicySpec>("partitionPolicy", "Splits the task's pods into equal groups."));
  }
};

struct VolumeSpec {
  static constexpr std::string_view kSchemaName = "sh.volcano.batch.v1alpha1.VolumeSpec";
  static constexpr auto fields() {
    return rows(field<Text>("mountPath", {.required = true, .length_min = 1, .pattern = "^[^:]+$"},
                            "Where each container finds it."),
                field<Text>("volumeClaimName", {.length_max = 253}, "Name of the claim."),
                field<Json>("volumeClaim", {.core_type = "core.v1.PersistentVolumeClaimSpec"},
                            "A claim the controller makes and owns."));
  }
};

struct JobSpec {
  static constexpr std::string_view kSchemaName = "sh.volcano.batch.v1alpha1.JobSpec";
  static constexpr auto fields() {
    return rows(
        field<Text>("schedulerName", {.length_max = 63}, "Who schedules the pods."),
        field<std::int32_t>("minAvailable", {.minimum = 0}, "Gang size."),
        field<List<VolumeSpec>>("volumes", "Volumes mounted into every container."),
        field<List<TaskSpec>>("tasks", {.items_min = 1}, "Groups of equal pods."),
        field<List<LifecyclePolicy>>("policies", "Rules of the whole job."),
        field<Map<List<Text>>>("plugins", "Job plugins and their arguments."),
        field<base::Duration>("runningEstimate", "How long the user expects it to run; stored only."),
        field<Text>("queue", {.default_json = "\"default\"", .length_max = 253, .pattern = kDnsSubdomainPattern},
                    "The queue that pays."),
        field<std::int32_t>("maxRetry", {.default_json = "3", .minimum = 0}, "Restarts before the job fails."),
        field<std::int32_t>("ttlSecondsAfterFinished", {.minimum = 0}, "Seconds from finish to deletion."),
        field<Text>("priorityClassName", {.length_max = 253, .pattern = kDnsSubdomainPattern},
                    "Priority class of group and pods."),
        field<std::int32_t>("minSuccess", {.minimum = 1}, "Succeeded pods that complete the job."),
        field<NetworkTopologySpec>("networkTopology", "Constraint of the whole job."));
  }
};

struct JobState {
  static constexpr std::string_view kPhases =
      "Pending|Aborting|Aborted|Running|Restarting|Completing|Completed|Terminating|Terminated|Failed";
  static constexpr std::string_view kSchemaName = "sh.volcano.batch.v1alpha1.JobState";
  static constexpr auto fields() {
    return rows(field<Text>("phase", {.enumeration = kPhases}, "Where the job is in its life."),
                field<Text>("reason", "One word."), field<Text>("message", "For a person."),
                field<base::Time>("lastTransitionTime", "When it was written last."));
  }
};

// As in Volcano, the schema does not ask for a known phase, or for one condition a phase: its releases before 1.16 add
// one for each change of phase, and what they write must stay valid under this definition.
struct JobCondition {
  static constexpr std::string_view kSchemaName = "sh.volcano.batch.v1alpha1.JobCondition";
  static constexpr auto fields() {
    return rows(field<Text>("status", {.required = true}, "The phase entered."),
                field<base::Time>("lastTransitionTime", "When."));
  }
};

struct TaskState {
  static constexpr std::string_view kSchemaName = "sh.volcano.batch.v1alpha1.TaskState";
  static constexpr auto fields() { return rows(field<Map<std::int32_t>>("phase", "Pods of the task in each phase.")); }
};

struct JobStatus {
  static constexpr std::string_view kSchemaName = "sh.volcano.batch.v1alpha1.JobStatus";
  static constexpr auto fields() {
    return rows(field<JobState>("state", "The phase."),
                field<std::int32_t>("minAvailable", {.minimum = 0}, "Gang size in force."),
                field<Map<TaskState>>("taskStatusCount", "Pods per task and phase."),
                field<std::int32_t>("pending", {.minimum = 0}, "Pods pending."),
                field<std::int32_t>("running", {.minimum = 0}, "Pods running."),
                field<std::int32_t>("succeeded", {.minimum = 0}, "Pods succeeded."),
                field<std::int32_t>("failed", {.minimum = 0}, "Pods failed."),
                field<std::int32_t>("terminating", {.minimum = 0}, "Pods being deleted."),
                field<std::int32_t>("unknown", {.minimum = 0}, "Pods unknown."),
                field<std::int32_t>("version", {.minimum = 0}, "Counts kills of the whole job."),
                field<std::int32_t>("retryCount", {.minimum = 0}, "Restarts so far."),
                field<base::Duration>("runningDuration", "From creation to the last kill."),
                field<Map<Text>>("controlledResources", "Plugins and volumes in use."),
                field<List<JobCondition>>("conditions", "One entry per phase, the last written last."));
  }
};

struct Job {
  static constexpr std::string_view kSchemaName = "sh.volcano.batch.v1alpha1.Job";
  static constexpr auto fields() {
    return rows(field<Json>("metadata", {.core_type = "meta.v1.ObjectMeta"}, "Standard metadata."),
                field<JobSpec>("spec", "What to run."), field<JobStatus>("status", "How it goes."));
  }
};

}  // namespace api
