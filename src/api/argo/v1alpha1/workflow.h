// A Workflow of Argo, of which a part is run here (kubeflow.md 6.5, src/pipelines/argo). Its specification is kept as
// it came, and judged by admission, so that a field outside of that part is refused and not dropped.
#pragma once

#include "api/meta/resource.h"
#include "api/schema/fields.h"

namespace api {

namespace resources {
inline const ResourceId kWorkflows{"argoproj.io", "v1alpha1", "workflows"};
}  // namespace resources

struct Workflow {
  static constexpr std::string_view kSchemaName = "io.argoproj.workflow.v1alpha1.Workflow";
  static constexpr auto fields() {
    return rows(field<Json>("metadata", {.core_type = "meta.v1.ObjectMeta"}, "Standard metadata."),
                field<Json>("spec", {.required = true}, "The templates, and the one to begin with."),
                field<Json>("status", "How it goes, node by node."));
  }
};

}  // namespace api
