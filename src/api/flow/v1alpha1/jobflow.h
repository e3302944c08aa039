// A JobFlow is a directed acyclic graph of Jobs, each made from a JobTemplate.
#pragma once

#include "api/batch/v1alpha1/job.h"
#include "api/schema/partial_schema.h"

namespace api {

struct HttpHeader {
  std::string name;
  std::string value;

  static constexpr std::string_view kSchemaName = "sh.volcano.flow.v1alpha1.HTTPHeader";
  static constexpr auto fields() {
    return rows(field<&HttpHeader::name>("name", {.required = true, .keep_empty = true}, "Name of the header."),
                field<&HttpHeader::value>("value", {.required = true, .keep_empty = true}, "Its value."));
  }
};

struct HttpGet {
  std::string task_name;
  std::string path;
  std::int32_t port = 0;
  std::optional<HttpHeader> http_header;

  static constexpr std::string_view kSchemaName = "sh.volcano.flow.v1alpha1.HttpGet";
  static constexpr auto fields() {
    using H = HttpGet;
    return rows(field<&H::task_name>("taskName", {.length_max = 253}, "The task whose pods are asked."),
                field<&H::path>("path", "Path of the request."),
                field<&H::port>("port", {.minimum = 0, .maximum = 65535}, "Port of the pods."),
                field<&H::http_header>("httpHeader", "A header that is sent."));
  }
};

struct TcpSocket {
  std::string task_name;
  std::int32_t port = 0;

  static constexpr std::string_view kSchemaName = "sh.volcano.flow.v1alpha1.TcpSocket";
  static constexpr auto fields() {
    using T = TcpSocket;
    return rows(field<&T::task_name>("taskName", {.length_max = 253}, "The task whose pods are connected to."),
                field<&T::port>("port", {.required = true, .keep_empty = true, .minimum = 0, .maximum = 65535},
                                "Port of the pods."));
  }
};

struct TaskStatusProbe {
  std::string task_name;
  std::string phase;

  static constexpr std::string_view kSchemaName = "sh.volcano.flow.v1alpha1.TaskStatus";
  static constexpr auto fields() {
    using T = TaskStatusProbe;
    return rows(field<&T::task_name>("taskName", {.length_max = 253}, "The task that is looked at."),
                field<&T::phase>("phase", {.length_max = 63}, "The phase that all of its pods must have."));
  }
};

struct FlowProbe {
  std::vector<HttpGet> http_get_list;
  std::vector<TcpSocket> tcp_socket_list;
  std::vector<TaskStatusProbe> task_status_list;

  static constexpr std::string_view kSchemaName = "sh.volcano.flow.v1alpha1.Probe";
  static constexpr auto fields() {
    using P = FlowProbe;
    return rows(field<&P::http_get_list>("httpGetList", "HTTP requests that must succeed."),
                field<&P::tcp_socket_list>("tcpSocketList", "Ports that must accept connections."),
                field<&P::task_status_list>("taskStatusList", "Tasks that must have reached a phase."));
  }
};

struct FlowDependsOn {
  std::vector<std::string> targets;
  std::optional<FlowProbe> probe;

  static constexpr std::string_view kSchemaName = "sh.volcano.flow.v1alpha1.DependsOn";
  static constexpr auto fields() {
    using D = FlowDependsOn;
    return rows(field<&D::targets>("targets", "Flows that come first."),
                field<&D::probe>("probe", "What else must hold of them."));
  }
};

// A JobSpec of which only some members are given: kept as it was sent, with the rules of a JobSpec.
// COMPAT(jobflow-patch-schema): nothing is required or filled in of what is laid over a template.
struct PartialJobSpec : Json {
  PartialJobSpec() = default;
  PartialJobSpec(Json json) : Json(std::move(json)) {}  // NOLINT(google-explicit-constructor)
};
namespace fields_detail {
template <>
struct Codec<PartialJobSpec> {
  static void from(const Json& json, PartialJobSpec& value) { value = json; }
  static Json to(const PartialJobSpec& value) { return value; }
  static bool empty(const PartialJobSpec& value) { return value.is_null(); }
  static const Schema& schema() { return partial_schema(schema_of<JobSpec>()); }
};
}  // namespace fields_detail

struct FlowPatch {
  PartialJobSpec job_spec;

  static constexpr std::string_view kSchemaName = "sh.volcano.flow.v1alpha1.Patch";
  static constexpr auto fields() {
    return rows(field<&FlowPatch::job_spec>("jobSpec", "Laid over the template's spec."));
  }
};

struct Flow {
  std::string name;
  std::optional<FlowDependsOn> depends_on;
  std::optional<FlowPatch> patch;

  static constexpr std::string_view kSchemaName = "sh.volcano.flow.v1alpha1.Flow";
  static constexpr auto fields() {
    using F = Flow;
    return rows(field<&F::name>("name", {.required = true, .length_min = 1}, "Name of the JobTemplate."),
                field<&F::depends_on>("dependsOn", "What comes before this flow."),
                field<&F::patch>("patch", "How its Job differs from the template."));
  }
};

struct JobFlowSpec {
  std::vector<Flow> flows;
  std::string job_retain_policy;

  static constexpr std::string_view kSchemaName = "sh.volcano.flow.v1alpha1.JobFlowSpec";
  static constexpr auto fields() {
    using J = JobFlowSpec;
    return rows(field<&J::flows>("flows", "The nodes of the graph."),
                field<&J::job_retain_policy>("jobRetainPolicy", {.enumeration = "retain|delete"},
                                             "delete: the Jobs go when the flow has succeeded."));
  }
};

struct JobRunningHistory {
  base::Time start_timestamp;
  base::Time end_timestamp;
  std::string state;

  static constexpr std::string_view kSchemaName = "sh.volcano.flow.v1alpha1.JobRunningHistory";
  static constexpr auto fields() {
    using J = JobRunningHistory;
    return rows(field<&J::start_timestamp>("startTimestamp", "When the phase began."),
                field<&J::end_timestamp>("endTimestamp", "When it ended."), field<&J::state>("state", "The phase."));
  }
};

struct JobFlowJobStatus {
  std::string name;
  std::string state;
  base::Time start_timestamp;
  base::Time end_timestamp;
  std::int32_t restart_count = 0;
  std::vector<JobRunningHistory> running_histories;

  static constexpr std::string_view kSchemaName = "sh.volcano.flow.v1alpha1.JobStatus";
  static constexpr auto fields() {
    using J = JobFlowJobStatus;
    return rows(field<&J::name>("name", "Name of the Job."), field<&J::state>("state", "Its phase."),
                field<&J::start_timestamp>("startTimestamp", "When it was made."),
                field<&J::end_timestamp>("endTimestamp", "When it finished."),
                field<&J::restart_count>("restartCount", {.minimum = 0}, "How often it was restarted."),
                field<&J::running_histories>("runningHistories", "The phases it went through."));
  }
};

struct JobFlowCondition {
  std::string phase;
  base::Time create_time;
  std::optional<base::Duration> running_duration;
  std::map<std::string, TaskState, std::less<>> task_status_count;

  static constexpr std::string_view kSchemaName = "sh.volcano.flow.v1alpha1.Condition";
  static constexpr auto fields() {
    using C = JobFlowCondition;
    return rows(field<&C::phase>("phase", "The Job's phase."),
                field<&C::create_time>("createTime", "When it was made."),
                field<&C::running_duration>("runningDuration", "How long it ran."),
                field<&C::task_status_count>("taskStatusCount", "Pods per task and phase."));
  }
};

struct JobFlowState {
  std::string phase;

  static constexpr std::string_view kSchemaName = "sh.volcano.flow.v1alpha1.State";
  static constexpr auto fields() {
    return rows(field<&JobFlowState::phase>("phase", {.enumeration = "Succeed|Terminating|Failed|Running|Pending"},
                                            "Where the flow is in its life."));
  }
};

struct JobFlowStatus {
  std::vector<std::string> pending_jobs;
  std::vector<std::string> running_jobs;
  std::vector<std::string> failed_jobs;
  std::vector<std::string> completed_jobs;
  std::vector<std::string> terminated_jobs;
  std::vector<std::string> unknown_jobs;
  std::vector<JobFlowJobStatus> job_status_list;
  std::map<std::string, JobFlowCondition, std::less<>> conditions;
  JobFlowState state;

  static constexpr std::string_view kSchemaName = "sh.volcano.flow.v1alpha1.JobFlowStatus";
  static constexpr auto fields() {
    using J = JobFlowStatus;
    return rows(field<&J::pending_jobs>("pendingJobs", "Jobs that are pending."),
                field<&J::running_jobs>("runningJobs", "Jobs that run."),
                field<&J::failed_jobs>("failedJobs", "Jobs that failed."),
                field<&J::completed_jobs>("completedJobs", "Jobs that completed."),
                field<&J::terminated_jobs>("terminatedJobs", "Jobs that were terminated."),
                field<&J::unknown_jobs>("unKnowJobs", "Jobs in another phase."),
                field<&J::job_status_list>("jobStatusList", "Each Job with its history."),
                field<&J::conditions>("conditions", "Each Job's own numbers, by its name."),
                field<&J::state>("state", "The flow's phase."));
  }
};

struct JobFlow {
  ObjectMeta metadata;
  JobFlowSpec spec;
  JobFlowStatus status;

  static constexpr std::string_view kSchemaName = "sh.volcano.flow.v1alpha1.JobFlow";
  static constexpr auto fields() {
    using J = JobFlow;
    return rows(field<&J::metadata>("metadata", {.core_type = "meta.v1.ObjectMeta"}, "Standard metadata."),
                field<&J::spec>("spec", "The graph."), field<&J::status>("status", "How it goes."));
  }
};

}  // namespace api
