// A JAXJob trains with jax.distributed.
#pragma once

#include "api/kubeflow/v1/run_policy.h"

namespace api {

struct JaxJobSpec {
  static constexpr std::string_view kSchemaName = "org.kubeflow.v1.JaxJobSpec";
  static constexpr auto fields() {
    return rows(field<TrainingRunPolicy>("runPolicy", "How the job is run."),
                field<TrainingReplicas>("jaxReplicaSpecs", {.required = true}, "Replicas by type: Worker."),
                // COMPAT(training-scheduler-name)
                field<Text>("schedulerName", "Who schedules pods whose template does not say."));
  }
};

struct JaxJob {
  static constexpr std::string_view kSchemaName = "org.kubeflow.v1.JaxJob";
  static constexpr auto fields() {
    return rows(field<Json>("metadata", {.core_type = "meta.v1.ObjectMeta"}, "Standard metadata."),
                field<JaxJobSpec>("spec", "What to train, and with what."),
                field<TrainingJobStatus>("status", "How it goes."));
  }
};

}  // namespace api
