// An MPIJob runs mpirun in a launcher, and its ranks in workers.
#pragma once

#include "api/kubeflow/v1/run_policy.h"

namespace api {

struct MpiJobSpec {
  std::optional<TrainingRunPolicy> run_policy;
  TrainingReplicas replicas;
  std::optional<std::int32_t> slots_per_worker;
  std::string clean_pod_policy;
  std::string main_container;
  std::string scheduler_name;

  static constexpr std::string_view kSchemaName = "org.kubeflow.v1.MpiJobSpec";
  static constexpr auto fields() {
    using J = MpiJobSpec;
    return rows(field<&J::run_policy>("runPolicy", "How the job is run."),
                field<&J::replicas>("mpiReplicaSpecs", {.required = true}, "Replicas by type: Launcher, Worker."),
                field<&J::slots_per_worker>("slotsPerWorker", "Processes a worker (1)."),
                field<&J::clean_pod_policy>("cleanPodPolicy", "Older place of runPolicy.cleanPodPolicy."),
                field<&J::main_container>("mainContainer", "Container of a worker in which ranks run."),
                // COMPAT(training-scheduler-name)
                field<&J::scheduler_name>("schedulerName", "Who schedules pods whose template does not say."));
  }
};

struct MpiJob {
  ObjectMeta metadata;
  MpiJobSpec spec;
  TrainingJobStatus status;

  static constexpr std::string_view kSchemaName = "org.kubeflow.v1.MpiJob";
  static constexpr auto fields() {
    using J = MpiJob;
    return rows(field<&J::metadata>("metadata", {.core_type = "meta.v1.ObjectMeta"}, "Standard metadata."),
                field<&J::spec>("spec", "What to train, and with what."), field<&J::status>("status", "How it goes."));
  }
};

}  // namespace api
