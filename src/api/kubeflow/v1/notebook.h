// A Notebook is a server of notebooks: one pod with a stable name that can be stopped and started again (kubeflow.md
// 2).
#pragma once

#include "api/meta/object.h"
#include "api/resource.h"
#include "api/schema/fields.h"

namespace api {

namespace resources {
inline const ResourceId kNotebooks{"kubeflow.org", "v1", "notebooks"};
}  // namespace resources

// A pod's specification with at least one container, each of which has an image.
struct NotebookPodSpec {
  Json value;
};

// The schema of NotebookPodSpec.
const Schema& notebook_pod_schema();

namespace fields_detail {
template <>
struct Codec<NotebookPodSpec> {
  static void from(const Json& json, NotebookPodSpec& value) { value.value = json; }
  static Json to(const NotebookPodSpec& value) { return value.value; }
  static bool empty(const NotebookPodSpec& value) { return value.value.is_null(); }
  static const Schema& schema() { return notebook_pod_schema(); }
};
}  // namespace fields_detail

struct NotebookTemplate {
  NotebookPodSpec spec;

  static constexpr std::string_view kSchemaName = "org.kubeflow.v1.NotebookTemplateSpec";
  static constexpr auto fields() {
    return rows(
        field<&NotebookTemplate::spec>("spec", {.required = true}, "The pod. Its first container is the server."));
  }
};

struct NotebookSpec {
  NotebookTemplate pod_template;

  static constexpr std::string_view kSchemaName = "org.kubeflow.v1.NotebookSpec";
  static constexpr auto fields() {
    return rows(field<&NotebookSpec::pod_template>("template", {.required = true}, "The pod of the server."));
  }
};

struct NotebookCondition {
  std::string type;
  std::string status;
  base::Time last_probe_time;
  base::Time last_transition_time;
  std::string reason;
  std::string message;

  static constexpr std::string_view kSchemaName = "org.kubeflow.v1.NotebookCondition";
  static constexpr auto fields() {
    using C = NotebookCondition;
    return rows(field<&C::type>("type", {.required = true}, "A condition of the pod, or Refused."),
                field<&C::status>("status", {.required = true}, "True, False or Unknown."),
                field<&C::last_probe_time>("lastProbeTime", "When it was looked at last."),
                field<&C::last_transition_time>("lastTransitionTime", "When its status changed last."),
                field<&C::reason>("reason", "One word."), field<&C::message>("message", "For a person."));
  }
};

struct NotebookStatus {
  std::vector<NotebookCondition> conditions;
  std::int32_t ready_replicas = 0;
  Json container_state;

  static constexpr std::string_view kSchemaName = "org.kubeflow.v1.NotebookStatus";
  static constexpr auto fields() {
    using S = NotebookStatus;
    return rows(
        field<&S::conditions>("conditions", {.keep_empty = true}, "Conditions of the pod."),
        field<&S::ready_replicas>("readyReplicas", {.keep_empty = true}, "1 where the server is ready."),
        field<&S::container_state>("containerState", {.keep_empty = true, .core_type = "core.v1.ContainerState"},
                                   "State of the container that is named like the notebook."));
  }
};

struct Notebook {
  ObjectMeta metadata;
  NotebookSpec spec;
  NotebookStatus status;

  static constexpr std::string_view kSchemaName = "org.kubeflow.v1.Notebook";
  static constexpr auto fields() {
    using N = Notebook;
    return rows(field<&N::metadata>("metadata", {.core_type = "meta.v1.ObjectMeta"}, "Standard metadata."),
                field<&N::spec>("spec", {.required = true}, "The server."),
                field<&N::status>("status", "How it goes."));
  }
};

}  // namespace api
