// An MPIJob runs mpirun in a launcher, and its ranks in workers.
#pragma once

#include "api/kubeflow/v1/run_policy.h"

namespace api {

struct MpiJobSpec {
  static constexpr std::string_view kSchemaName = "org.kubeflow.v1.MpiJobSpec";
  static constexpr auto fields() {
    return rows(field<TrainingRunPolicy>("runPolicy", "How the job is run."),
                field<TrainingReplicas>("mpiReplicaSpecs", {.required = true}, "Replicas by type: Launcher, Worker."),
                field<std::int32_t>("slotsPerWorker", "Processes a worker (1)."),
                field<Text>("cleanPodPolicy", "Older place of runPolicy.cleanPodPolicy."),
                field<Text>("mainContainer", "Container of a worker in which ranks run."),
                // COMPAT(training-scheduler-name)
                field<Text>("schedulerName", "Who schedules pods whose template does not say."));
  }
};

struct MpiJob {
  static constexpr std::string_view kSchemaName = "org.kubeflow.v1.MpiJob";
  static constexpr auto fields() {
    return rows(field<Json>("metadata", {.core_type = "meta.v1.ObjectMeta"}, "Standard metadata."),
                field<MpiJobSpec>("spec", "What to train, and with what."),
                field<TrainingJobStatus>("status", "How it goes."));
  }
};

}  // namespace api
