// A CronJob makes Jobs by the clock.
#pragma once

#include "api/batch/v1alpha1/job.h"

namespace api {

struct JobTemplateSpec {
  static constexpr std::string_view kSchemaName = "sh.volcano.batch.v1alpha1.JobTemplateSpec";
  static constexpr auto fields() {
    return rows(field<Json>("metadata", {.core_type = "meta.v1.ObjectMeta"},
                            "Labels and annotations of each Job; the rest has no effect."),
                field<JobSpec>("spec", "The spec of each Job."));
  }
};

struct CronJobSpec {
  static constexpr std::string_view kSchemaName = "sh.volcano.batch.v1alpha1.CronJobSpec";
  static constexpr auto fields() {
    return rows(field<Text>("schedule", {.required = true}, "When Jobs are made: five cron fields, or a descriptor."),
                field<Text>("timeZone", "Time zone of the schedule; absent: that of the controller."),
                field<std::int64_t>("startingDeadlineSeconds", {.minimum = 0},
                                    "Runs later than this many seconds are left out."),
                field<Text>("concurrencyPolicy", {.default_json = "\"Allow\"", .enumeration = "Allow|Forbid|Replace"},
                            "What is done while an earlier Job is active."),
                field<bool>("suspend", {.default_json = "false"}, "Whether no further Jobs are made."),
                field<JobTemplateSpec>("jobTemplate", {.required = true}, "What each Job looks like."),
                field<std::int32_t>("successfulJobsHistoryLimit", {.default_json = "3", .minimum = 0},
                                    "Completed Jobs that are kept."),
                field<std::int32_t>("failedJobsHistoryLimit", {.default_json = "1", .minimum = 0},
                                    "Failed Jobs that are kept."));
  }
};

struct CronJobStatus {
  static constexpr std::string_view kSchemaName = "sh.volcano.batch.v1alpha1.CronJobStatus";
  static constexpr auto fields() {
    return rows(field<Json>("active", {.core_type = "[core.v1.ObjectReference]"}, "Jobs that have not finished."),
                field<base::Time>("lastScheduleTime", "The time for which the last Job was made."),
                field<base::Time>("lastSuccessfulTime", "When a Job completed last."));
  }
};

struct CronJob {
  static constexpr std::string_view kSchemaName = "sh.volcano.batch.v1alpha1.CronJob";
  static constexpr auto fields() {
    return rows(field<Json>("metadata", {.core_type = "meta.v1.ObjectMeta"}, "Standard metadata."),
                field<CronJobSpec>("spec", "What to run, and when."), field<CronJobStatus>("status", "What was run."));
  }
};

}  // namespace api
