// A TFJob trains with TensorFlow's tf.distribute.
#pragma once

#include "api/kubeflow/v1/run_policy.h"

namespace api {

struct TfJobSpec {
  static constexpr std::string_view kSchemaName = "org.kubeflow.v1.TfJobSpec";
  static constexpr auto fields() {
    return rows(field<TrainingRunPolicy>("runPolicy", "How the job is run."),
                field<TrainingReplicas>("tfReplicaSpecs", {.required = true},
                                        "Replicas by type: Chief, Master, PS, Worker, Evaluator."),
                field<Text>("successPolicy", "Empty: as the chief or the first worker; or AllWorkers."),
                field<bool>("enableDynamicWorker", "Whether workers may come and go."),
                // COMPAT(training-scheduler-name)
                field<Text>("schedulerName", "Who schedules pods whose template does not say."));
  }
};

struct TfJob {
  static constexpr std::string_view kSchemaName = "org.kubeflow.v1.TfJob";
  static constexpr auto fields() {
    return rows(field<Json>("metadata", {.core_type = "meta.v1.ObjectMeta"}, "Standard metadata."),
                field<TfJobSpec>("spec", "What to train, and with what."),
                field<TrainingJobStatus>("status", "How it goes."));
  }
};

}  // namespace api
