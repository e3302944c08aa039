// A PipelineRun is one execution of a pipeline, an Experiment a shelf for runs, and a PipelineTask one task of a run:
// an object of its own, so that a run of many tasks does not rewrite one large object for each of them.
#pragma once

#include "api/meta/resource.h"
#include "api/schema/fields.h"

namespace api {

namespace resources {
inline const ResourceId kPipelineExperiments{"pipelines.kubeflow.org", "v2beta1", "experiments"};
inline const ResourceId kPipelineRuns{"pipelines.kubeflow.org", "v2beta1", "pipelineruns"};
inline const ResourceId kPipelineTasks{"pipelines.kubeflow.org", "v2beta1", "pipelinetasks"};
}  // namespace resources

inline constexpr std::string_view kPipelineStorageStates = "AVAILABLE|ARCHIVED";
inline constexpr std::string_view kPipelineStates =
    "PENDING|RUNNING|SUCCEEDED|SKIPPED|FAILED|CANCELING|CANCELED|PAUSED|CACHED";

struct ExperimentSpec {
  static constexpr std::string_view kSchemaName = "org.kubeflow.pipelines.v2beta1.ExperimentSpec";
  static constexpr auto fields() {
    return rows(field<Text>("displayName", "The name for people; the object's name where it is missing."),
                field<Text>("description", "For a person."),
                field<Text>("storageState", {.enumeration = kPipelineStorageStates}, "Whether it is put away."));
  }
};

struct ExperimentStatus {
  static constexpr std::string_view kSchemaName = "org.kubeflow.pipelines.v2beta1.ExperimentStatus";
  static constexpr auto fields() { return rows(field<base::Time>("lastRunCreatedAt", "When its last run was made.")); }
};

struct Experiment {
  static constexpr std::string_view kSchemaName = "org.kubeflow.pipelines.v2beta1.Experiment";
  static constexpr auto fields() {
    return rows(field<Json>("metadata", {.core_type = "meta.v1.ObjectMeta"}, "Standard metadata."),
                field<ExperimentSpec>("spec", "Its texts."), field<ExperimentStatus>("status", "Its last run."));
  }
};

struct PipelineRuntimeConfig {
  static constexpr std::string_view kSchemaName = "org.kubeflow.pipelines.v2beta1.RuntimeConfig";
  static constexpr auto fields() {
    return rows(field<Map<Json>>("parameters", "Values of the pipeline's parameters, by name."),
                field<Text>("pipelineRoot", "The place of its artifacts, a URI."));
  }
};

struct PipelineRunSpec {
  static constexpr std::string_view kSchemaName = "org.kubeflow.pipelines.v2beta1.PipelineRunSpec";
  static constexpr auto fields() {
    return rows(field<Text>("displayName", "The name for people; the object's name where it is missing."),
                field<Text>("description", "For a person."),
                field<Text>("experimentName", "The Experiment of the run; default where it is missing."),
                field<Text>("pipelineName", "The Pipeline that is run."),
                field<Text>("pipelineVersionName", "The PipelineVersion that is run."),
                field<Json>("pipelineSpec", "The compiled document: copied from the version, or given."),
                field<Json>("platformSpec", "The compiled document's part for platforms."),
                field<PipelineRuntimeConfig>("runtimeConfig", "Parameters and the place of artifacts."),
                field<Text>("serviceAccountName", "The account of its pods."),
                field<Text>("recurringRunName", "The RecurringRun that made it."),
                field<base::Time>("scheduledAt", "The time that its RecurringRun made it for."),
                field<Text>("storageState", {.enumeration = kPipelineStorageStates}, "Whether it is put away."),
                field<bool>("terminate", "Ends the run: no task starts, those that run are ended."),
                field<std::int32_t>("retries", {.minimum = 0}, "How often a person has asked for another attempt."));
  }
};

struct PipelineStateChange {
  static constexpr std::string_view kSchemaName = "org.kubeflow.pipelines.v2beta1.StateChange";
  static constexpr auto fields() {
    return rows(field<base::Time>("updateTime", "When it changed."), field<Text>("state", "The state since then."),
                field<Text>("error", "Why it failed."));
  }
};

struct PipelineTaskCounts {
  static constexpr std::string_view kSchemaName = "org.kubeflow.pipelines.v2beta1.TaskCounts";
  static constexpr auto fields() {
    return rows(field<std::int32_t>("total", "Tasks that are known so far."),
                field<std::int32_t>("running", "Tasks that run."),
                field<std::int32_t>("succeeded", "Tasks that succeeded, were skipped, or came from the cache."),
                field<std::int32_t>("failed", "Tasks that failed."));
  }
};

struct PipelineRunStatus {
  static constexpr std::string_view kSchemaName = "org.kubeflow.pipelines.v2beta1.PipelineRunStatus";
  static constexpr auto fields() {
    return rows(field<Text>("state", {.enumeration = kPipelineStates}, "Where the run is in its life."),
                field<Text>("error", "Why it failed, by task."),
                field<base::Time>("startedAt", "When its first task began."),
                field<base::Time>("finishedAt", "When it ended."),
                field<List<PipelineStateChange>>("stateHistory", "The states that it went through."),
                field<std::int32_t>("observedRetries", "The wishes for another attempt that were followed."),
                field<PipelineTaskCounts>("tasks", "How many tasks are where."));
  }
};

struct PipelineRun {
  static constexpr std::string_view kSchemaName = "org.kubeflow.pipelines.v2beta1.PipelineRun";
  static constexpr auto fields() {
    return rows(field<Json>("metadata", {.core_type = "meta.v1.ObjectMeta"}, "Standard metadata."),
                field<PipelineRunSpec>("spec", {.required = true}, "The work."),
                field<PipelineRunStatus>("status", "How it goes."));
  }
};

struct PipelineTaskSpec {
  static constexpr std::string_view kSchemaName = "org.kubeflow.pipelines.v2beta1.PipelineTaskSpec";
  static constexpr auto fields() {
    return rows(
        field<Text>("runName", {.required = true}, "The PipelineRun."),
        field<Text>("taskName", {.required = true}, "The name in the graph that holds it."),
        field<Text>("displayName", "The name for people."),
        field<Text>("path", {.required = true}, "The place in the run: root.for-loop-1[3].train."),
        field<Text>("parentPath", "The path of the graph that holds it."),
        field<std::int32_t>("iteration", {.minimum = 0}, "The turn of the loop that it is."),
        field<Text>("type", {.enumeration = "ROOT|DAG|LOOP|CONDITIONS|CONTAINER|IMPORTER|CLAIM"}, "What it does."),
        field<Text>("componentName", "The component of the document."));
  }
};

struct PipelineTaskValues {
  static constexpr std::string_view kSchemaName = "org.kubeflow.pipelines.v2beta1.TaskValues";
  static constexpr auto fields() {
    return rows(field<Map<Json>>("parameters", "Values by name."),
                field<Map<Json>>("artifacts", "Lists of artifacts by name: name, uri, type, metadata."));
  }
};

struct PipelineTaskStatus {
  static constexpr std::string_view kSchemaName = "org.kubeflow.pipelines.v2beta1.PipelineTaskStatus";
  static constexpr auto fields() {
    return rows(field<Text>("state", {.enumeration = kPipelineStates}, "Where the task is in its life."),
                field<std::int32_t>("attempt", {.minimum = 0}, "The attempt that runs, or ended it; 0 is the first."),
                field<Text>("podName", "The pod of that attempt."),
                field<PipelineTaskValues>("inputs", "What it was given."),
                field<PipelineTaskValues>("outputs", "What it gave."),
                field<Text>("cacheKey", "Equal for tasks that do the same with the same inputs."),
                field<Text>("cachedFrom", "The task whose outputs it took over."),
                field<Text>("error", "Why it failed."), field<Text>("message", "Why it waits."),
                field<base::Time>("startTime", "When it began."), field<base::Time>("endTime", "When it ended."),
                field<List<PipelineStateChange>>("stateHistory", "The states that it went through."));
  }
};

struct PipelineTask {
  static constexpr std::string_view kSchemaName = "org.kubeflow.pipelines.v2beta1.PipelineTask";
  static constexpr auto fields() {
    return rows(field<Json>("metadata", {.core_type = "meta.v1.ObjectMeta"}, "Standard metadata."),
                field<PipelineTaskSpec>("spec", {.required = true}, "Its place in the run."),
                field<PipelineTaskStatus>("status", "How it goes."));
  }
};

}  // namespace api
