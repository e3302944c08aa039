// A Tensorboard shows the logs of trainings that a claim or an object store holds (kubeflow.md 3).
#pragma once

#include "api/meta/resource.h"
#include "api/schema/fields.h"

namespace api {

namespace resources {
inline const ResourceId kTensorboards{"tensorboard.kubeflow.org", "v1alpha1", "tensorboards"};
}  // namespace resources

struct TensorboardSpec {
  static constexpr std::string_view kSchemaName = "org.kubeflow.tensorboard.v1alpha1.TensorboardSpec";
  static constexpr auto fields() {
    return rows(field<Text>("logspath", {.required = true}, "pvc://CLAIM/PATH, gs://..., s3://..., or /cns/..."));
  }
};

struct TensorboardCondition {
  static constexpr std::string_view kSchemaName = "org.kubeflow.tensorboard.v1alpha1.TensorboardCondition";
  static constexpr auto fields() {
    return rows(field<Text>("deploymentState", {.required = true},
                            "A condition of the Deployment: Available, Progressing or ReplicaFailure."),
                field<base::Time>("lastProbeTime", "When the Deployment said so."));
  }
};

struct TensorboardStatus {
  static constexpr std::string_view kSchemaName = "org.kubeflow.tensorboard.v1alpha1.TensorboardStatus";
  static constexpr auto fields() {
    return rows(field<List<TensorboardCondition>>("conditions", {.required = true},
                                                  "What the Deployment said, the last one last."),
                field<std::int32_t>("readyReplicas", {.required = true}, "1 where the server is ready."));
  }
};

struct Tensorboard {
  static constexpr std::string_view kSchemaName = "org.kubeflow.tensorboard.v1alpha1.Tensorboard";
  static constexpr auto fields() {
    return rows(field<Json>("metadata", {.core_type = "meta.v1.ObjectMeta"}, "Standard metadata."),
                field<TensorboardSpec>("spec", "The place of the logs."),
                field<TensorboardStatus>("status", "How it goes."));
  }
};

}  // namespace api
