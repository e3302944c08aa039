// An XGBoostJob trains with XGBoost or LightGBM.
#pragma once

#include "api/kubeflow/v1/run_policy.h"

namespace api {

struct XgboostJobSpec {
  static constexpr std::string_view kSchemaName = "org.kubeflow.v1.XgboostJobSpec";
  static constexpr auto fields() {
    return rows(field<TrainingRunPolicy>("runPolicy", "How the job is run."),
                field<TrainingReplicas>("xgbReplicaSpecs", {.required = true}, "Replicas by type: Master, Worker."),
                // COMPAT(training-scheduler-name)
                field<Text>("schedulerName", "Who schedules pods whose template does not say."));
  }
};

struct XgboostJob {
  static constexpr std::string_view kSchemaName = "org.kubeflow.v1.XgboostJob";
  static constexpr auto fields() {
    return rows(field<Json>("metadata", {.core_type = "meta.v1.ObjectMeta"}, "Standard metadata."),
                field<XgboostJobSpec>("spec", "What to train, and with what."),
                field<TrainingJobStatus>("status", "How it goes."));
  }
};

}  // namespace api
