// A PVCViewer shows the files of a claim on a page (kubeflow.md 3.1).
#pragma once

#include "api/meta/object.h"
#include "api/resource.h"
#include "api/schema/fields.h"

namespace api {

namespace resources {
inline const ResourceId kPvcViewers{"kubeflow.org", "v1alpha1", "pvcviewers"};
}  // namespace resources

// A port by its number or name.
struct PvcViewerPort {
  Json value;
};

namespace fields_detail {
template <>
struct Codec<PvcViewerPort> {
  static void from(const Json& json, PvcViewerPort& value) { value.value = json; }
  static Json to(const PvcViewerPort& value) { return value.value; }
  static bool empty(const PvcViewerPort& value) { return value.value.is_null(); }
  static const Schema& schema() { return int_or_string_schema(); }
};
}  // namespace fields_detail

struct PvcViewerNetworking {
  PvcViewerPort target_port;
  std::string base_prefix;
  std::string rewrite;
  std::string timeout;

  static constexpr std::string_view kSchemaName = "org.kubeflow.v1alpha1.PVCViewerNetworking";
  static constexpr auto fields() {
    using N = PvcViewerNetworking;
    return rows(field<&N::target_port>("targetPort", "The port of the viewer."),
                field<&N::base_prefix>("basePrefix", "The beginning of the viewer's path, before namespace and name."),
                field<&N::rewrite>("rewrite", "The path that the viewer sees; absent: the whole."),
                field<&N::timeout>("timeout", "The time that a request may take, as text."));
  }
};

struct PvcViewerSpec {
  std::string claim;
  Json pod;
  std::optional<PvcViewerNetworking> networking;
  bool rwo_scheduling = false;

  static constexpr std::string_view kSchemaName = "org.kubeflow.v1alpha1.PVCViewerSpec";
  static constexpr auto fields() {
    using P = PvcViewerSpec;
    return rows(
        field<&P::claim>("pvc", {.required = true, .length_min = 1}, "The claim."),
        field<&P::pod>("podSpec", {.core_type = "core.v1.PodSpec"}, "The pod; absent: a file browser."),
        field<&P::networking>("networking", "How the viewer is reached; absent: by nobody."),
        field<&P::rwo_scheduling>("rwoScheduling", "Whether the pod goes to the node that has the claim mounted."));
  }
};

struct PvcViewerStatus {
  bool ready = false;
  std::string url;
  Json conditions;

  static constexpr std::string_view kSchemaName = "org.kubeflow.v1alpha1.PVCViewerStatus";
  static constexpr auto fields() {
    using S = PvcViewerStatus;
    return rows(field<&S::ready>("ready", {.keep_empty = true}, "Whether the viewer answers."),
                field<&S::url>("url", "The path of the viewer."),
                field<&S::conditions>("conditions", {.core_type = "[apps.v1.DeploymentCondition]"},
                                      "What the Deployment said, the last one last."));
  }
};

struct PvcViewer {
  ObjectMeta metadata;
  PvcViewerSpec spec;
  PvcViewerStatus status;

  static constexpr std::string_view kSchemaName = "org.kubeflow.v1alpha1.PVCViewer";
  static constexpr auto fields() {
    using P = PvcViewer;
    return rows(field<&P::metadata>("metadata", {.core_type = "meta.v1.ObjectMeta"}, "Standard metadata."),
                field<&P::spec>("spec", "The claim and its viewer."), field<&P::status>("status", "How it goes."));
  }
};

}  // namespace api
