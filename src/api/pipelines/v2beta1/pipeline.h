// A Pipeline is a name for documents that describe the same work; a PipelineVersion is one such document, compiled by
// the SDK (kubeflow.md 6). Both have the fields of Kubeflow's own definitions.
#pragma once

#include "api/meta/resource.h"
#include "api/schema/fields.h"

namespace api {

namespace resources {
inline const ResourceId kPipelines{"pipelines.kubeflow.org", "v2beta1", "pipelines"};
inline const ResourceId kPipelineVersions{"pipelines.kubeflow.org", "v2beta1", "pipelineversions"};
}  // namespace resources

struct PipelineSpec {
  static constexpr std::string_view kSchemaName = "org.kubeflow.pipelines.v2beta1.PipelineSpec";
  static constexpr auto fields() {
    return rows(field<Text>("displayName", "The name for people; the object's name where it is missing."),
                field<Text>("description", "For a person."), field<Map<Text>>("tags", "Words to find it by."));
  }
};

struct Pipeline {
  static constexpr std::string_view kSchemaName = "org.kubeflow.pipelines.v2beta1.Pipeline";
  static constexpr auto fields() {
    return rows(field<Json>("metadata", {.core_type = "meta.v1.ObjectMeta"}, "Standard metadata."),
                field<PipelineSpec>("spec", "Its texts."));
  }
};

struct PipelineVersionSpec {
  static constexpr std::string_view kSchemaName = "org.kubeflow.pipelines.v2beta1.PipelineVersionSpec";
  static constexpr auto fields() {
    return rows(field<Text>("description", "For a person."), field<Text>("codeSourceURL", "The place of its source."),
                field<Text>("pipelineName", "The Pipeline that it is a version of."),
                field<Text>("versionName", {.length_max = 253, .pattern = "^[a-z0-9]([a-z0-9\\.\\-]*[a-z0-9])?$"},
                            "The name within its Pipeline; the object's name where it is missing."),
                field<Text>("displayName", "The name for people."),
                field<Json>("pipelineSpec", {.required = true}, "The compiled document."),
                field<Json>("platformSpec", "The compiled document's part for platforms."),
                field<Text>("pipelineSpecURI", "The place that the document was read from."),
                field<Map<Text>>("tags", "Words to find it by."));
  }
};

struct PipelineVersionCondition {
  static constexpr std::string_view kSchemaName = "org.kubeflow.pipelines.v2beta1.PipelineVersionCondition";
  static constexpr auto fields() {
    return rows(field<Text>("type", {.required = true, .length_max = 316}, "PipelineVersionStatus."),
                field<Text>("status", {.required = true, .enumeration = "True|False|Unknown"}, "True where it holds."),
                field<Text>("reason", {.required = true}, "One word."),
                field<Text>("message", {.required = true, .length_max = 32768}, "For a person."));
  }
};

struct PipelineVersionStatus {
  static constexpr std::string_view kSchemaName = "org.kubeflow.pipelines.v2beta1.PipelineVersionStatus";
  static constexpr auto fields() {
    return rows(field<List<PipelineVersionCondition>>("conditions", "Whether it can be run."));
  }
};

struct PipelineVersion {
  static constexpr std::string_view kSchemaName = "org.kubeflow.pipelines.v2beta1.PipelineVersion";
  static constexpr auto fields() {
    return rows(field<Json>("metadata", {.core_type = "meta.v1.ObjectMeta"}, "Standard metadata."),
                field<PipelineVersionSpec>("spec", "The document and its texts. It does not change."),
                field<PipelineVersionStatus>("status", "Whether it can be run."));
  }
};

}  // namespace api
