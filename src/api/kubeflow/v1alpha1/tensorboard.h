// A Tensorboard shows the logs of trainings that a claim or an object store holds (kubeflow.md 3).
#pragma once

#include "api/meta/object.h"
#include "api/resource.h"
#include "api/schema/fields.h"

namespace api {

namespace resources {
inline const ResourceId kTensorboards{"tensorboard.kubeflow.org", "v1alpha1", "tensorboards"};
}  // namespace resources

struct TensorboardSpec {
  std::string logs_path;

  static constexpr std::string_view kSchemaName = "org.kubeflow.tensorboard.v1alpha1.TensorboardSpec";
  static constexpr auto fields() {
    return rows(field<&TensorboardSpec::logs_path>("logspath", {.required = true},
                                                   "pvc://CLAIM/PATH, gs://..., s3://..., or /cns/..."));
  }
};

struct TensorboardCondition {
  std::string deployment_state;
  base::Time last_probe_time;

  static constexpr std::string_view kSchemaName = "org.kubeflow.tensorboard.v1alpha1.TensorboardCondition";
  static constexpr auto fields() {
    using C = TensorboardCondition;
    return rows(field<&C::deployment_state>("deploymentState", {.required = true},
                                            "A condition of the Deployment: Available, Progressing or ReplicaFailure."),
                field<&C::last_probe_time>("lastProbeTime", "When the Deployment said so."));
  }
};

struct TensorboardStatus {
  std::vector<TensorboardCondition> conditions;
  std::int32_t ready_replicas = 0;

  static constexpr std::string_view kSchemaName = "org.kubeflow.tensorboard.v1alpha1.TensorboardStatus";
  static constexpr auto fields() {
    using S = TensorboardStatus;
    return rows(field<&S::conditions>("conditions", {.required = true, .keep_empty = true},
                                      "What the Deployment said, the last one last."),
                field<&S::ready_replicas>("readyReplicas", {.required = true, .keep_empty = true},
                                          "1 where the server is ready."));
  }
};

struct Tensorboard {
  ObjectMeta metadata;
  TensorboardSpec spec;
  TensorboardStatus status;

  static constexpr std::string_view kSchemaName = "org.kubeflow.tensorboard.v1alpha1.Tensorboard";
  static constexpr auto fields() {
    using T = Tensorboard;
    return rows(field<&T::metadata>("metadata", {.core_type = "meta.v1.ObjectMeta"}, "Standard metadata."),
                field<&T::spec>("spec", "The place of the logs."), field<&T::status>("status", "How it goes."));
  }
};

}  // namespace api
