// A JobFlow is a directed acyclic graph of Jobs, each made from a JobTemplate.
#pragma once

#include "api/batch/v1alpha1/job.h"
#include "api/schema/partial_schema.h"

namespace api {

struct HttpHeader {
  static constexpr std::string_view kSchemaName = "sh.volcano.flow.v1alpha1.HTTPHeader";
  static constexpr auto fields() {
    return rows(field<Text>("name", {.required = true}, "Name of the header."),
                field<Text>("value", {.required = true}, "Its value."));
  }
};

struct HttpGet {
  static constexpr std::string_view kSchemaName = "sh.volcano.flow.v1alpha1.HttpGet";
  static constexpr auto fields() {
    return rows(field<Text>("taskName", {.length_max = 253}, "The task whose pods are asked."),
                field<Text>("path", "Path of the request."),
                field<std::int32_t>("port", {.minimum = 0, .maximum = 65535}, "Port of the pods."),
                field<HttpHeader>("httpHeader", "A header that is sent."));
  }
};

struct TcpSocket {
  static constexpr std::string_view kSchemaName = "sh.volcano.flow.v1alpha1.TcpSocket";
  static constexpr auto fields() {
    return rows(field<Text>("taskName", {.length_max = 253}, "The task whose pods are connected to."),
                field<std::int32_t>("port", {.required = true, .minimum = 0, .maximum = 65535}, "Port of the pods."));
  }
};

struct TaskStatusProbe {
  static constexpr std::string_view kSchemaName = "sh.volcano.flow.v1alpha1.TaskStatus";
  static constexpr auto fields() {
    return rows(field<Text>("taskName", {.length_max = 253}, "The task that is looked at."),
                field<Text>("phase", {.length_max = 63}, "The phase that all of its pods must have."));
  }
};

struct FlowProbe {
  static constexpr std::string_view kSchemaName = "sh.volcano.flow.v1alpha1.Probe";
  static constexpr auto fields() {
    return rows(field<List<HttpGet>>("httpGetList", "HTTP requests that must succeed."),
                field<List<TcpSocket>>("tcpSocketList", "Ports that must accept connections."),
                field<List<TaskStatusProbe>>("taskStatusList", "Tasks that must have reached a phase."));
  }
};

struct FlowDependsOn {
  static constexpr std::string_view kSchemaName = "sh.volcano.flow.v1alpha1.DependsOn";
  static constexpr auto fields() {
    return rows(field<List<Text>>("targets", "Flows that come first."),
                field<FlowProbe>("probe", "What else must hold of them."));
  }
};

// A JobSpec of which only some members are given: kept as it was sent, with the rules of a JobSpec.
// COMPAT(jobflow-patch-schema): nothing is required or filled in of what is laid over a template.
struct PartialJobSpec;
namespace fields_detail {
template <>
struct TypeSchema<PartialJobSpec> {
  static const Schema& get() { return partial_schema(schema_of<JobSpec>()); }
};
}  // namespace fields_detail

struct FlowPatch {
  static constexpr std::string_view kSchemaName = "sh.volcano.flow.v1alpha1.Patch";
  static constexpr auto fields() { return rows(field<PartialJobSpec>("jobSpec", "Laid over the template's spec.")); }
};

struct Flow {
  static constexpr std::string_view kSchemaName = "sh.volcano.flow.v1alpha1.Flow";
  static constexpr auto fields() {
    return rows(field<Text>("name", {.required = true, .length_min = 1}, "Name of the JobTemplate."),
                field<FlowDependsOn>("dependsOn", "What comes before this flow."),
                field<FlowPatch>("patch", "How its Job differs from the template."));
  }
};

struct JobFlowSpec {
  static constexpr std::string_view kSchemaName = "sh.volcano.flow.v1alpha1.JobFlowSpec";
  static constexpr auto fields() {
    return rows(field<List<Flow>>("flows", "The nodes of the graph."),
                field<Text>("jobRetainPolicy", {.enumeration = "retain|delete"},
                            "delete: the Jobs go when the flow has succeeded."));
  }
};

struct JobRunningHistory {
  static constexpr std::string_view kSchemaName = "sh.volcano.flow.v1alpha1.JobRunningHistory";
  static constexpr auto fields() {
    return rows(field<base::Time>("startTimestamp", "When the phase began."),
                field<base::Time>("endTimestamp", "When it ended."), field<Text>("state", "The phase."));
  }
};

struct JobFlowJobStatus {
  static constexpr std::string_view kSchemaName = "sh.volcano.flow.v1alpha1.JobStatus";
  static constexpr auto fields() {
    return rows(field<Text>("name", "Name of the Job."), field<Text>("state", "Its phase."),
                field<base::Time>("startTimestamp", "When it was made."),
                field<base::Time>("endTimestamp", "When it finished."),
                field<std::int32_t>("restartCount", {.minimum = 0}, "How often it was restarted."),
                field<List<JobRunningHistory>>("runningHistories", "The phases it went through."));
  }
};

struct JobFlowCondition {
  static constexpr std::string_view kSchemaName = "sh.volcano.flow.v1alpha1.Condition";
  static constexpr auto fields() {
    return rows(field<Text>("phase", "The Job's phase."), field<base::Time>("createTime", "When it was made."),
                field<base::Duration>("runningDuration", "How long it ran."),
                field<Map<TaskState>>("taskStatusCount", "Pods per task and phase."));
  }
};

struct JobFlowState {
  static constexpr std::string_view kSchemaName = "sh.volcano.flow.v1alpha1.State";
  static constexpr auto fields() {
    return rows(field<Text>("phase", {.enumeration = "Succeed|Terminating|Failed|Running|Pending"},
                            "Where the flow is in its life."));
  }
};

struct JobFlowStatus {
  static constexpr std::string_view kSchemaName = "sh.volcano.flow.v1alpha1.JobFlowStatus";
  static constexpr auto fields() {
    return rows(field<List<Text>>("pendingJobs", "Jobs that are pending."),
                field<List<Text>>("runningJobs", "Jobs that run."),
                field<List<Text>>("failedJobs", "Jobs that failed."),
                field<List<Text>>("completedJobs", "Jobs that completed."),
                field<List<Text>>("terminatedJobs", "Jobs that were terminated."),
                field<List<Text>>("unKnowJobs", "Jobs in another phase."),
                field<List<JobFlowJobStatus>>("jobStatusList", "Each Job with its history."),
                field<Map<JobFlowCondition>>("conditions", "Each Job's own numbers, by its name."),
                field<JobFlowState>("state", "The flow's phase."));
  }
};

struct JobFlow {
  static constexpr std::string_view kSchemaName = "sh.volcano.flow.v1alpha1.JobFlow";
  static constexpr auto fields() {
    return rows(field<Json>("metadata", {.core_type = "meta.v1.ObjectMeta"}, "Standard metadata."),
                field<JobFlowSpec>("spec", "The graph."), field<JobFlowStatus>("status", "How it goes."));
  }
};

}  // namespace api
