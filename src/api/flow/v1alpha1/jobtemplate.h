// A JobTemplate is the spec of a Job that flows make Jobs of.
#pragma once

#include "api/batch/v1alpha1/job.h"

namespace api {

struct JobTemplateStatus {
  std::vector<std::string> job_depends_on_list;

  static constexpr std::string_view kSchemaName = "sh.volcano.flow.v1alpha1.JobTemplateStatus";
  static constexpr auto fields() {
    return rows(
        field<&JobTemplateStatus::job_depends_on_list>("jobDependsOnList", "Jobs that were made from the template."));
  }
};

struct JobTemplate {
  ObjectMeta metadata;
  JobSpec spec;
  JobTemplateStatus status;

  static constexpr std::string_view kSchemaName = "sh.volcano.flow.v1alpha1.JobTemplate";
  static constexpr auto fields() {
    using J = JobTemplate;
    return rows(field<&J::metadata>("metadata", {.core_type = "meta.v1.ObjectMeta"}, "Standard metadata."),
                field<&J::spec>("spec", "The spec of each Job."), field<&J::status>("status", "Who uses it."));
  }
};

}  // namespace api
