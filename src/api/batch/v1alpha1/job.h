// A Job is a set of tasks, each a number of equal pods, scheduled as one gang and watched by policies.
#pragma once

#include "api/meta/object.h"
#include "api/scheduling/v1beta1/topology.h"

namespace api {

struct LifecyclePolicy {
  std::string action;
  std::string event;
  std::vector<std::string> events;
  std::optional<std::int32_t> exit_code;
  std::optional<base::Duration> timeout;

  static constexpr std::string_view kEvents =
      "*|PodPending|PodRunning|PodFailed|PodEvicted|Unknown|TaskCompleted|OutOfSync|CommandIssued|JobUpdated|"
      "TaskFailed";
  static constexpr std::string_view kSchemaName = "sh.volcano.batch.v1alpha1.LifecyclePolicy";
  static constexpr auto fields() {
    using L = LifecyclePolicy;
    return rows(field<&L::action>("action", "What is done when the rule matches."),
                field<&L::event>("event", {.enumeration = kEvents}, "The event it matches."),
                field<&L::events>("events", {.enumeration = kEvents}, "More events it matches."),
                field<&L::exit_code>("exitCode", "Matches the exit code of a failed pod; excludes events."),
                field<&L::timeout>("timeout", "Delay before the action runs."));
  }
};

struct DependsOn {
  std::vector<std::string> name;
  std::string iteration;

  static constexpr std::string_view kSchemaName = "sh.volcano.batch.v1alpha1.DependsOn";
  static constexpr auto fields() {
    using D = DependsOn;
    return rows(field<&D::name>("name", "Tasks this one waits for."),
                field<&D::iteration>("iteration", "Whether any or all of them must be ready."));
  }
};

struct PartitionPolicySpec {
  std::int32_t total_partitions = 0;
  std::int32_t partition_size = 0;
  std::optional<NetworkTopologySpec> network_topology;
  std::int32_t min_partitions = 0;

  static constexpr std::string_view kSchemaName = "sh.volcano.batch.v1alpha1.PartitionPolicySpec";
  static constexpr auto fields() {
    using P = PartitionPolicySpec;
    return rows(field<&P::total_partitions>("totalPartitions", {.required = true, .minimum = 1}, "Number of groups."),
                field<&P::partition_size>("partitionSize", {.required = true, .minimum = 1}, "Pods in one group."),
                field<&P::network_topology>("networkTopology", "Constraint of each group."),
                field<&P::min_partitions>("minPartitions", {.default_json = "0", .minimum = 0},
                                          "Groups that must be schedulable."));
  }
};

struct TaskSpec {
  std::string name;
  std::int32_t replicas = 0;
  std::optional<std::int32_t> min_available;
  Json pod_template;  // core/v1 PodTemplateSpec, kept as sent
  std::vector<LifecyclePolicy> policies;
  std::string topology_policy;
  std::int32_t max_retry = 0;
  std::optional<DependsOn> depends_on;
  std::optional<PartitionPolicySpec> partition_policy;

  static constexpr std::string_view kSchemaName = "sh.volcano.batch.v1alpha1.TaskSpec";
  static constexpr auto fields() {
    using T = TaskSpec;
    return rows(
        field<&T::name>("name", {.length_max = 63, .pattern = kDnsLabelPattern},
                        "Unique in the job; part of pod names."),
        field<&T::replicas>("replicas", {.minimum = 0}, "Number of pods."),
        field<&T::min_available>("minAvailable", {.minimum = 0}, "The task's own gang size."),
        field<&T::pod_template>("template", {.core_type = "core.v1.PodTemplateSpec"}, "What each pod looks like."),
        field<&T::policies>("policies", "Rules of this task, evaluated before those of the job."),
        field<&T::topology_policy>("topologyPolicy", {.enumeration = "none|best-effort|restricted|single-numa-node"},
                                   "NUMA policy of the pods."),
        field<&T::max_retry>("maxRetry", {.minimum = 0}, "Container restarts at which TaskFailed is raised."),
        field<&T::depends_on>("dependsOn", "Tasks that start first."),
        field<&T::partition_policy>("partitionPolicy", "Splits the task's pods into equal groups."));
  }
};

struct VolumeSpec {
  std::string mount_path;
  std::string volume_claim_name;
  Json volume_claim;  // core/v1 PersistentVolumeClaimSpec, kept as sent

  static constexpr std::string_view kSchemaName = "sh.volcano.batch.v1alpha1.VolumeSpec";
  static constexpr auto fields() {
    using V = VolumeSpec;
    return rows(field<&V::mount_path>("mountPath", {.required = true, .length_min = 1, .pattern = "^[^:]+$"},
                                      "Where each container finds it."),
                field<&V::volume_claim_name>("volumeClaimName", {.length_max = 253}, "Name of the claim."),
                field<&V::volume_claim>("volumeClaim", {.core_type = "core.v1.PersistentVolumeClaimSpec"},
                                        "A claim the controller makes and owns."));
  }
};

struct JobSpec {
  std::string scheduler_name;
  std::int32_t min_available = 0;
  std::vector<VolumeSpec> volumes;
  std::vector<TaskSpec> tasks;
  std::vector<LifecyclePolicy> policies;
  std::map<std::string, std::vector<std::string>, std::less<>> plugins;
  std::optional<base::Duration> running_estimate;
  std::string queue;
  std::int32_t max_retry = 0;
  std::optional<std::int32_t> ttl_seconds_after_finished;
  std::string priority_class_name;
  std::optional<std::int32_t> min_success;
  std::optional<NetworkTopologySpec> network_topology;

  static constexpr std::string_view kSchemaName = "sh.volcano.batch.v1alpha1.JobSpec";
  static constexpr auto fields() {
    using J = JobSpec;
    return rows(
        field<&J::scheduler_name>("schedulerName", {.length_max = 63}, "Who schedules the pods."),
        field<&J::min_available>("minAvailable", {.minimum = 0}, "Gang size."),
        field<&J::volumes>("volumes", "Volumes mounted into every container."),
        field<&J::tasks>("tasks", {.items_min = 1}, "Groups of equal pods."),
        field<&J::policies>("policies", "Rules of the whole job."),
        field<&J::plugins>("plugins", "Job plugins and their arguments."),
        field<&J::running_estimate>("runningEstimate", "How long the user expects it to run; stored only."),
        field<&J::queue>("queue", {.default_json = "\"default\"", .length_max = 253, .pattern = kDnsSubdomainPattern},
                         "The queue that pays."),
        field<&J::max_retry>("maxRetry", {.default_json = "3", .minimum = 0}, "Restarts before the job fails."),
        field<&J::ttl_seconds_after_finished>("ttlSecondsAfterFinished", {.minimum = 0},
                                              "Seconds from finish to deletion."),
        field<&J::priority_class_name>("priorityClassName", {.length_max = 253, .pattern = kDnsSubdomainPattern},
                                       "Priority class of group and pods."),
        field<&J::min_success>("minSuccess", {.minimum = 1}, "Succeeded pods that complete the job."),
        field<&J::network_topology>("networkTopology", "Constraint of the whole job."));
  }
};

struct JobState {
  std::string phase;
  std::string reason;
  std::string message;
  base::Time last_transition_time;

  static constexpr std::string_view kPhases =
      "Pending|Aborting|Aborted|Running|Restarting|Completing|Completed|Terminating|Terminated|Failed";
  static constexpr std::string_view kSchemaName = "sh.volcano.batch.v1alpha1.JobState";
  static constexpr auto fields() {
    using J = JobState;
    return rows(field<&J::phase>("phase", {.enumeration = kPhases}, "Where the job is in its life."),
                field<&J::reason>("reason", "One word."), field<&J::message>("message", "For a person."),
                field<&J::last_transition_time>("lastTransitionTime", "When it was written last."));
  }
};

// As in Volcano, the schema does not ask for a known phase, or for one condition a phase: its releases before 1.16 add
// one for each change of phase, and what they write must stay valid under this definition.
struct JobCondition {
  std::string status;
  base::Time last_transition_time;

  static constexpr std::string_view kSchemaName = "sh.volcano.batch.v1alpha1.JobCondition";
  static constexpr auto fields() {
    using J = JobCondition;
    return rows(field<&J::status>("status", {.required = true}, "The phase entered."),
                field<&J::last_transition_time>("lastTransitionTime", "When."));
  }
};

struct TaskState {
  std::map<std::string, std::int32_t, std::less<>> phase;

  static constexpr std::string_view kSchemaName = "sh.volcano.batch.v1alpha1.TaskState";
  static constexpr auto fields() { return rows(field<&TaskState::phase>("phase", "Pods of the task in each phase.")); }
};

struct JobStatus {
  JobState state;
  std::int32_t min_available = 0;
  std::map<std::string, TaskState, std::less<>> task_status_count;
  std::int32_t pending = 0;
  std::int32_t running = 0;
  std::int32_t succeeded = 0;
  std::int32_t failed = 0;
  std::int32_t terminating = 0;
  std::int32_t unknown = 0;
  std::int32_t version = 0;
  std::int32_t retry_count = 0;
  std::optional<base::Duration> running_duration;
  StringMap controlled_resources;
  std::vector<JobCondition> conditions;

  static constexpr std::string_view kSchemaName = "sh.volcano.batch.v1alpha1.JobStatus";
  static constexpr auto fields() {
    using J = JobStatus;
    return rows(field<&J::state>("state", {.keep_empty = true}, "The phase."),
                field<&J::min_available>("minAvailable", {.minimum = 0}, "Gang size in force."),
                field<&J::task_status_count>("taskStatusCount", "Pods per task and phase."),
                field<&J::pending>("pending", {.minimum = 0}, "Pods pending."),
                field<&J::running>("running", {.minimum = 0}, "Pods running."),
                field<&J::succeeded>("succeeded", {.minimum = 0}, "Pods succeeded."),
                field<&J::failed>("failed", {.minimum = 0}, "Pods failed."),
                field<&J::terminating>("terminating", {.minimum = 0}, "Pods being deleted."),
                field<&J::unknown>("unknown", {.minimum = 0}, "Pods unknown."),
                field<&J::version>("version", {.minimum = 0}, "Counts kills of the whole job."),
                field<&J::retry_count>("retryCount", {.minimum = 0}, "Restarts so far."),
                field<&J::running_duration>("runningDuration", "From creation to the last kill."),
                field<&J::controlled_resources>("controlledResources", "Plugins and volumes in use."),
                field<&J::conditions>("conditions", "One entry per phase, the last written last."));
  }
};

struct Job {
  ObjectMeta metadata;
  JobSpec spec;
  JobStatus status;

  static constexpr std::string_view kSchemaName = "sh.volcano.batch.v1alpha1.Job";
  static constexpr auto fields() {
    using J = Job;
    return rows(field<&J::metadata>("metadata", {.core_type = "meta.v1.ObjectMeta"}, "Standard metadata."),
                field<&J::spec>("spec", "What to run."), field<&J::status>("status", "How it goes."));
  }
};

}  // namespace api
