// A PaddleJob trains with PaddlePaddle.
#pragma once

#include "api/kubeflow/v1/run_policy.h"

namespace api {

struct PaddleElasticPolicy {
  static constexpr std::string_view kSchemaName = "org.kubeflow.v1.PaddleElasticPolicy";
  static constexpr auto fields() {
    return rows(field<std::int32_t>("minReplicas", "Fewest workers that can train."),
                field<std::int32_t>("maxReplicas", "Most workers that can train."),
                field<std::int32_t>("maxRestarts", "Restarts of a group of workers."),
                field<List<Json>>("metrics", "What the number of workers follows (autoscaling/v2)."));
  }
};

struct PaddleJobSpec {
  static constexpr std::string_view kSchemaName = "org.kubeflow.v1.PaddleJobSpec";
  static constexpr auto fields() {
    return rows(field<TrainingRunPolicy>("runPolicy", "How the job is run."),
                field<TrainingReplicas>("paddleReplicaSpecs", {.required = true}, "Replicas by type: Master, Worker."),
                field<PaddleElasticPolicy>("elasticPolicy", "How the number of workers may change."),
                // COMPAT(training-scheduler-name)
                field<Text>("schedulerName", "Who schedules pods whose template does not say."));
  }
};

struct PaddleJob {
  static constexpr std::string_view kSchemaName = "org.kubeflow.v1.PaddleJob";
  static constexpr auto fields() {
    return rows(field<Json>("metadata", {.core_type = "meta.v1.ObjectMeta"}, "Standard metadata."),
                field<PaddleJobSpec>("spec", "What to train, and with what."),
                field<TrainingJobStatus>("status", "How it goes."));
  }
};

}  // namespace api
