// An XGBoostJob trains with XGBoost or LightGBM.
#pragma once

#include "api/kubeflow/v1/run_policy.h"

namespace api {

struct XgboostJobSpec {
  std::optional<TrainingRunPolicy> run_policy;
  TrainingReplicas replicas;
  std::string scheduler_name;

  static constexpr std::string_view kSchemaName = "org.kubeflow.v1.XgboostJobSpec";
  static constexpr auto fields() {
    using J = XgboostJobSpec;
    return rows(field<&J::run_policy>("runPolicy", "How the job is run."),
                field<&J::replicas>("xgbReplicaSpecs", {.required = true}, "Replicas by type: Master, Worker."),
                // COMPAT(training-scheduler-name)
                field<&J::scheduler_name>("schedulerName", "Who schedules pods whose template does not say."));
  }
};

struct XgboostJob {
  ObjectMeta metadata;
  XgboostJobSpec spec;
  TrainingJobStatus status;

  static constexpr std::string_view kSchemaName = "org.kubeflow.v1.XgboostJob";
  static constexpr auto fields() {
    using J = XgboostJob;
    return rows(field<&J::metadata>("metadata", {.core_type = "meta.v1.ObjectMeta"}, "Standard metadata."),
                field<&J::spec>("spec", "What to train, and with what."), field<&J::status>("status", "How it goes."));
  }
};

}  // namespace api
