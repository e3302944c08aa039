// A PaddleJob trains with PaddlePaddle.
#pragma once

#include "api/kubeflow/v1/run_policy.h"

namespace api {

struct PaddleElasticPolicy {
  std::optional<std::int32_t> min_replicas;
  std::optional<std::int32_t> max_replicas;
  std::optional<std::int32_t> max_restarts;
  std::vector<Json> metrics;

  static constexpr std::string_view kSchemaName = "org.kubeflow.v1.PaddleElasticPolicy";
  static constexpr auto fields() {
    using E = PaddleElasticPolicy;
    return rows(field<&E::min_replicas>("minReplicas", "Fewest workers that can train."),
                field<&E::max_replicas>("maxReplicas", "Most workers that can train."),
                field<&E::max_restarts>("maxRestarts", "Restarts of a group of workers."),
                field<&E::metrics>("metrics", "What the number of workers follows (autoscaling/v2)."));
  }
};

struct PaddleJobSpec {
  std::optional<TrainingRunPolicy> run_policy;
  TrainingReplicas replicas;
  std::optional<PaddleElasticPolicy> elastic_policy;
  std::string scheduler_name;

  static constexpr std::string_view kSchemaName = "org.kubeflow.v1.PaddleJobSpec";
  static constexpr auto fields() {
    using J = PaddleJobSpec;
    return rows(field<&J::run_policy>("runPolicy", "How the job is run."),
                field<&J::replicas>("paddleReplicaSpecs", {.required = true}, "Replicas by type: Master, Worker."),
                field<&J::elastic_policy>("elasticPolicy", "How the number of workers may change."),
                // COMPAT(training-scheduler-name)
                field<&J::scheduler_name>("schedulerName", "Who schedules pods whose template does not say."));
  }
};

struct PaddleJob {
  ObjectMeta metadata;
  PaddleJobSpec spec;
  TrainingJobStatus status;

  static constexpr std::string_view kSchemaName = "org.kubeflow.v1.PaddleJob";
  static constexpr auto fields() {
    using J = PaddleJob;
    return rows(field<&J::metadata>("metadata", {.core_type = "meta.v1.ObjectMeta"}, "Standard metadata."),
                field<&J::spec>("spec", "What to train, and with what."), field<&J::status>("status", "How it goes."));
  }
};

}  // namespace api
