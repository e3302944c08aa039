// A CronJob makes Jobs by the clock.
#pragma once

#include "api/batch/v1alpha1/job.h"

namespace api {

struct JobTemplateSpec {
  ObjectMeta metadata;
  JobSpec spec;

  static constexpr std::string_view kSchemaName = "sh.volcano.batch.v1alpha1.JobTemplateSpec";
  static constexpr auto fields() {
    using J = JobTemplateSpec;
    return rows(field<&J::metadata>("metadata", {.core_type = "meta.v1.ObjectMeta"},
                                    "Labels and annotations of each Job; the rest has no effect."),
                field<&J::spec>("spec", "The spec of each Job."));
  }
};

struct CronJobSpec {
  std::string schedule;
  std::optional<std::string> time_zone;
  std::optional<std::int64_t> starting_deadline_seconds;
  std::string concurrency_policy;
  std::optional<bool> suspend;
  JobTemplateSpec job_template;
  std::optional<std::int32_t> successful_jobs_history_limit;
  std::optional<std::int32_t> failed_jobs_history_limit;

  static constexpr std::string_view kSchemaName = "sh.volcano.batch.v1alpha1.CronJobSpec";
  static constexpr auto fields() {
    using C = CronJobSpec;
    return rows(
        field<&C::schedule>("schedule", {.required = true}, "When Jobs are made: five cron fields, or a descriptor."),
        field<&C::time_zone>("timeZone", "Time zone of the schedule; absent: that of the controller."),
        field<&C::starting_deadline_seconds>("startingDeadlineSeconds", {.minimum = 0},
                                             "Runs later than this many seconds are left out."),
        field<&C::concurrency_policy>("concurrencyPolicy",
                                      {.default_json = "\"Allow\"", .enumeration = "Allow|Forbid|Replace"},
                                      "What is done while an earlier Job is active."),
        field<&C::suspend>("suspend", {.default_json = "false"}, "Whether no further Jobs are made."),
        field<&C::job_template>("jobTemplate", {.required = true, .keep_empty = true}, "What each Job looks like."),
        field<&C::successful_jobs_history_limit>("successfulJobsHistoryLimit", {.default_json = "3", .minimum = 0},
                                                 "Completed Jobs that are kept."),
        field<&C::failed_jobs_history_limit>("failedJobsHistoryLimit", {.default_json = "1", .minimum = 0},
                                             "Failed Jobs that are kept."));
  }
};

struct CronJobStatus {
  Json active;  // core/v1 ObjectReferences
  base::Time last_schedule_time;
  base::Time last_successful_time;

  static constexpr std::string_view kSchemaName = "sh.volcano.batch.v1alpha1.CronJobStatus";
  static constexpr auto fields() {
    using C = CronJobStatus;
    return rows(field<&C::active>("active", {.core_type = "[core.v1.ObjectReference]"}, "Jobs that have not finished."),
                field<&C::last_schedule_time>("lastScheduleTime", "The time for which the last Job was made."),
                field<&C::last_successful_time>("lastSuccessfulTime", "When a Job completed last."));
  }
};

struct CronJob {
  ObjectMeta metadata;
  CronJobSpec spec;
  CronJobStatus status;

  static constexpr std::string_view kSchemaName = "sh.volcano.batch.v1alpha1.CronJob";
  static constexpr auto fields() {
    using C = CronJob;
    return rows(field<&C::metadata>("metadata", {.core_type = "meta.v1.ObjectMeta"}, "Standard metadata."),
                field<&C::spec>("spec", "What to run, and when."), field<&C::status>("status", "What was run."));
  }
};

}  // namespace api
