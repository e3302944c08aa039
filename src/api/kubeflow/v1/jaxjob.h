// A JAXJob trains with jax.distributed.
#pragma once

#include "api/kubeflow/v1/run_policy.h"

namespace api {

struct JaxJobSpec {
  std::optional<TrainingRunPolicy> run_policy;
  TrainingReplicas replicas;
  std::string scheduler_name;

  static constexpr std::string_view kSchemaName = "org.kubeflow.v1.JaxJobSpec";
  static constexpr auto fields() {
    using J = JaxJobSpec;
    return rows(field<&J::run_policy>("runPolicy", "How the job is run."),
                field<&J::replicas>("jaxReplicaSpecs", {.required = true}, "Replicas by type: Worker."),
                // COMPAT(training-scheduler-name)
                field<&J::scheduler_name>("schedulerName", "Who schedules pods whose template does not say."));
  }
};

struct JaxJob {
  ObjectMeta metadata;
  JaxJobSpec spec;
  TrainingJobStatus status;

  static constexpr std::string_view kSchemaName = "org.kubeflow.v1.JaxJob";
  static constexpr auto fields() {
    using J = JaxJob;
    return rows(field<&J::metadata>("metadata", {.core_type = "meta.v1.ObjectMeta"}, "Standard metadata."),
                field<&J::spec>("spec", "What to train, and with what."), field<&J::status>("status", "How it goes."));
  }
};

}  // namespace api
