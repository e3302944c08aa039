// A RecurringRun makes PipelineRuns at times of a schedule (kubeflow.md 6.2).
#pragma once

#include "api/meta/resource.h"
#include "api/pipelines/v2beta1/pipeline_run.h"
#include "api/schema/fields.h"

namespace api {

namespace resources {
inline const ResourceId kRecurringRuns{"pipelines.kubeflow.org", "v2beta1", "recurringruns"};
}  // namespace resources

struct PipelineCronSchedule {
  static constexpr std::string_view kSchemaName = "org.kubeflow.pipelines.v2beta1.CronSchedule";
  static constexpr auto fields() {
    return rows(field<Text>("cron", {.required = true}, "Six fields, seconds first, or five."),
                field<base::Time>("startTime", "No run before it."), field<base::Time>("endTime", "No run after it."));
  }
};

struct PipelinePeriodicSchedule {
  static constexpr std::string_view kSchemaName = "org.kubeflow.pipelines.v2beta1.PeriodicSchedule";
  static constexpr auto fields() {
    return rows(field<std::int64_t>("intervalSecond", {.required = true, .minimum = 1}, "Seconds between two runs."),
                field<base::Time>("startTime", "No run before it."), field<base::Time>("endTime", "No run after it."));
  }
};

struct PipelineTrigger {
  static constexpr std::string_view kSchemaName = "org.kubeflow.pipelines.v2beta1.Trigger";
  static constexpr auto fields() {
    return rows(field<PipelineCronSchedule>("cronSchedule", "Times of a cron expression."),
                field<PipelinePeriodicSchedule>("periodicSchedule", "Times at equal distances."));
  }
};

struct RecurringRunSpec {
  static constexpr std::string_view kSchemaName = "org.kubeflow.pipelines.v2beta1.RecurringRunSpec";
  static constexpr auto fields() {
    return rows(field<Text>("displayName", "The name for people; the object's name where it is missing."),
                field<Text>("description", "For a person."),
                field<Text>("experimentName", "The Experiment of its runs; default where it is missing."),
                field<Text>("pipelineName", "The Pipeline that is run; its newest version where none is named."),
                field<Text>("pipelineVersionName", "The PipelineVersion that is run."),
                field<Json>("pipelineSpec", "The compiled document, where no version is named."),
                field<Json>("platformSpec", "The compiled document's part for platforms."),
                field<PipelineRuntimeConfig>("runtimeConfig", "Parameters and the place of artifacts."),
                field<Text>("serviceAccountName", "The account of the pods."),
                field<std::int64_t>("maxConcurrency", {.minimum = 1, .maximum = 10}, "Runs at the same time; 1."),
                field<bool>("noCatchup", "Only the newest of several missed times is run."),
                field<Text>("mode", {.enumeration = "ENABLE|DISABLE"}, "Whether it makes runs."),
                field<PipelineTrigger>("trigger", {.required = true}, "Its times."));
  }
};

struct RecurringRunStatus {
  static constexpr std::string_view kSchemaName = "org.kubeflow.pipelines.v2beta1.RecurringRunStatus";
  static constexpr auto fields() {
    return rows(field<Text>("state", {.enumeration = "ENABLED|DISABLED|FAILED"}, "Whether it makes runs."),
                field<Text>("error", "Why it makes none."),
                field<base::Time>("lastRunTime", "The time that its last run was made for."),
                field<base::Time>("nextRunTime", "The time of its next run."),
                field<std::int64_t>("runs", "Runs that it made."));
  }
};

struct RecurringRun {
  static constexpr std::string_view kSchemaName = "org.kubeflow.pipelines.v2beta1.RecurringRun";
  static constexpr auto fields() {
    return rows(field<Json>("metadata", {.core_type = "meta.v1.ObjectMeta"}, "Standard metadata."),
                field<RecurringRunSpec>("spec", {.required = true}, "The work and its times."),
                field<RecurringRunStatus>("status", "How it goes."));
  }
};

}  // namespace api
