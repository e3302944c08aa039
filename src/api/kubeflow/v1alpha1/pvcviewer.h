// A PVCViewer shows the files of a claim on a page (kubeflow.md 3.1).
#pragma once

#include "api/meta/resource.h"
#include "api/schema/fields.h"

namespace api {

namespace resources {
inline const ResourceId kPvcViewers{"kubeflow.org", "v1alpha1", "pvcviewers"};
}  // namespace resources

// A port by its number or name.
struct PvcViewerPort;

namespace fields_detail {
template <>
struct TypeSchema<PvcViewerPort> {
  static const Schema& get() { return int_or_string_schema(); }
};
}  // namespace fields_detail

struct PvcViewerNetworking {
  static constexpr std::string_view kSchemaName = "org.kubeflow.v1alpha1.PVCViewerNetworking";
  static constexpr auto fields() {
    return rows(field<PvcViewerPort>("targetPort", "The port of the viewer."),
                field<Text>("basePrefix", "The beginning of the viewer's path, before namespace and name."),
                field<Text>("rewrite", "The path that the viewer sees; absent: the whole."),
                field<Text>("timeout", "The time that a request may take, as text."));
  }
};

struct PvcViewerSpec {
  static constexpr std::string_view kSchemaName = "org.kubeflow.v1alpha1.PVCViewerSpec";
  static constexpr auto fields() {
    return rows(field<Text>("pvc", {.required = true, .length_min = 1}, "The claim."),
                field<Json>("podSpec", {.core_type = "core.v1.PodSpec"}, "The pod; absent: a file browser."),
                field<PvcViewerNetworking>("networking", "How the viewer is reached; absent: by nobody."),
                field<bool>("rwoScheduling", "Whether the pod goes to the node that has the claim mounted."));
  }
};

struct PvcViewerStatus {
  static constexpr std::string_view kSchemaName = "org.kubeflow.v1alpha1.PVCViewerStatus";
  static constexpr auto fields() {
    return rows(field<bool>("ready", "Whether the viewer answers."), field<Text>("url", "The path of the viewer."),
                field<Json>("conditions", {.core_type = "[apps.v1.DeploymentCondition]"},
                            "What the Deployment said, the last one last."));
  }
};

struct PvcViewer {
  static constexpr std::string_view kSchemaName = "org.kubeflow.v1alpha1.PVCViewer";
  static constexpr auto fields() {
    return rows(field<Json>("metadata", {.core_type = "meta.v1.ObjectMeta"}, "Standard metadata."),
                field<PvcViewerSpec>("spec", "The claim and its viewer."),
                field<PvcViewerStatus>("status", "How it goes."));
  }
};

}  // namespace api
