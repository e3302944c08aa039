// A Notebook is a server of notebooks: one pod with a stable name that can be stopped and started again (kubeflow.md
// 2).
#pragma once

#include "api/meta/resource.h"
#include "api/schema/fields.h"

namespace api {

namespace resources {
inline const ResourceId kNotebooks{"kubeflow.org", "v1", "notebooks"};
}  // namespace resources

// A pod's specification with at least one container, each of which has an image.
struct NotebookPodSpec;

// The schema of NotebookPodSpec.
const Schema& notebook_pod_schema();

namespace fields_detail {
template <>
struct TypeSchema<NotebookPodSpec> {
  static const Schema& get() { return notebook_pod_schema(); }
};
}  // namespace fields_detail

struct NotebookTemplate {
  static constexpr std::string_view kSchemaName = "org.kubeflow.v1.NotebookTemplateSpec";
  static constexpr auto fields() {
    return rows(field<NotebookPodSpec>("spec", {.required = true}, "The pod. Its first container is the server."));
  }
};

struct NotebookSpec {
  static constexpr std::string_view kSchemaName = "org.kubeflow.v1.NotebookSpec";
  static constexpr auto fields() {
    return rows(field<NotebookTemplate>("template", {.required = true}, "The pod of the server."));
  }
};

struct NotebookCondition {
  static constexpr std::string_view kSchemaName = "org.kubeflow.v1.NotebookCondition";
  static constexpr auto fields() {
    return rows(field<Text>("type", {.required = true}, "A condition of the pod, or Refused."),
                field<Text>("status", {.required = true}, "True, False or Unknown."),
                field<base::Time>("lastProbeTime", "When it was looked at last."),
                field<base::Time>("lastTransitionTime", "When its status changed last."),
                field<Text>("reason", "One word."), field<Text>("message", "For a person."));
  }
};

struct NotebookStatus {
  static constexpr std::string_view kSchemaName = "org.kubeflow.v1.NotebookStatus";
  static constexpr auto fields() {
    return rows(field<List<NotebookCondition>>("conditions", "Conditions of the pod."),
                field<std::int32_t>("readyReplicas", "1 where the server is ready."),
                field<Json>("containerState", {.core_type = "core.v1.ContainerState"},
                            "State of the container that is named like the notebook."));
  }
};

struct Notebook {
  static constexpr std::string_view kSchemaName = "org.kubeflow.v1.Notebook";
  static constexpr auto fields() {
    return rows(field<Json>("metadata", {.core_type = "meta.v1.ObjectMeta"}, "Standard metadata."),
                field<NotebookSpec>("spec", {.required = true}, "The server."),
                field<NotebookStatus>("status", "How it goes."));
  }
};

}  // namespace api
