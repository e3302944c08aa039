// A JobTemplate is the spec of a Job that flows make Jobs of.
#pragma once

#include "api/batch/v1alpha1/job.h"

namespace api {

struct JobTemplateStatus {
  static constexpr std::string_view kSchemaName = "sh.volcano.flow.v1alpha1.JobTemplateStatus";
  static constexpr auto fields() {
    return rows(field<List<Text>>("jobDependsOnList", "Jobs that were made from the template."));
  }
};

struct JobTemplate {
  static constexpr std::string_view kSchemaName = "sh.volcano.flow.v1alpha1.JobTemplate";
  static constexpr auto fields() {
    return rows(field<Json>("metadata", {.core_type = "meta.v1.ObjectMeta"}, "Standard metadata."),
                field<JobSpec>("spec", "The spec of each Job."), field<JobTemplateStatus>("status", "Who uses it."));
  }
};

}  // namespace api
