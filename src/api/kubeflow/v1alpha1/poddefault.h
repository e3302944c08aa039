// A PodDefault is what selected pods of its namespace get when they are created (kubeflow.md 5.2).
#pragma once

#include "api/meta/resource.h"
#include "api/schema/fields.h"

namespace api {

namespace resources {
inline const ResourceId kPodDefaults{"kubeflow.org", "v1alpha1", "poddefaults"};
}  // namespace resources

struct PodDefaultSpec {
  static constexpr std::string_view kSchemaName = "org.kubeflow.v1alpha1.PodDefaultSpec";
  static constexpr auto fields() {
    return rows(field<Json>("selector", {.required = true, .core_type = "meta.v1.LabelSelector"},
                            "The pods that get it; an empty selector: all."),
                field<Text>("desc", "For a person who chooses."),
                field<List<Json>>("env", {.core_type = "[core.v1.EnvVar]"}, "Variables of every container."),
                field<List<Json>>("envFrom", {.core_type = "[core.v1.EnvFromSource]"}, "Sources of variables."),
                field<List<Json>>("volumes", {.core_type = "[core.v1.Volume]"}, "Volumes of the pod."),
                field<List<Json>>("volumeMounts", {.core_type = "[core.v1.VolumeMount]"}, "Mounts of every container."),
                field<List<Json>>("initContainers", {.core_type = "[core.v1.Container]"}, "Containers that run first."),
                field<List<Json>>("sidecars", {.core_type = "[core.v1.Container]"}, "Containers beside the pod's own."),
                field<List<Json>>("tolerations", {.core_type = "[core.v1.Toleration]"}, "Tolerations of the pod."),
                field<List<Json>>("imagePullSecrets", {.core_type = "[core.v1.LocalObjectReference]"},
                                  "Secrets with which its images are pulled."),
                field<Map<Text>>("labels", "Labels of the pod."), field<Map<Text>>("annotations", "Its annotations."),
                field<Text>("serviceAccountName", "The ServiceAccount of the pod."),
                field<bool>("automountServiceAccountToken", "Whether its token is mounted."),
                field<List<Text>>("command", "The command of containers that have none."),
                field<List<Text>>("args", "The arguments of containers that have none."));
  }
};

struct PodDefault {
  static constexpr std::string_view kSchemaName = "org.kubeflow.v1alpha1.PodDefault";
  static constexpr auto fields() {
    return rows(field<Json>("metadata", {.core_type = "meta.v1.ObjectMeta"}, "Standard metadata."),
                field<PodDefaultSpec>("spec", "What pods get."));
  }
};

}  // namespace api
