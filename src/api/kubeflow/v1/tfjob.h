// A TFJob trains with TensorFlow's tf.distribute.
#pragma once

#include "api/kubeflow/v1/run_policy.h"

namespace api {

struct TfJobSpec {
  std::optional<TrainingRunPolicy> run_policy;
  TrainingReplicas replicas;
  std::string success_policy;
  std::optional<bool> enable_dynamic_worker;
  std::string scheduler_name;

  static constexpr std::string_view kSchemaName = "org.kubeflow.v1.TfJobSpec";
  static constexpr auto fields() {
    using J = TfJobSpec;
    return rows(field<&J::run_policy>("runPolicy", "How the job is run."),
                field<&J::replicas>("tfReplicaSpecs", {.required = true},
                                    "Replicas by type: Chief, Master, PS, Worker, Evaluator."),
                field<&J::success_policy>("successPolicy", "Empty: as the chief or the first worker; or AllWorkers."),
                field<&J::enable_dynamic_worker>("enableDynamicWorker", "Whether workers may come and go."),
                // COMPAT(training-scheduler-name)
                field<&J::scheduler_name>("schedulerName", "Who schedules pods whose template does not say."));
  }
};

struct TfJob {
  ObjectMeta metadata;
  TfJobSpec spec;
  TrainingJobStatus status;

  static constexpr std::string_view kSchemaName = "org.kubeflow.v1.TfJob";
  static constexpr auto fields() {
    using J = TfJob;
    return rows(field<&J::metadata>("metadata", {.core_type = "meta.v1.ObjectMeta"}, "Standard metadata."),
                field<&J::spec>("spec", "What to train, and with what."), field<&J::status>("status", "How it goes."));
  }
};

}  // namespace api
