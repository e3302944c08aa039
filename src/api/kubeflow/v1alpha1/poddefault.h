// A PodDefault is what selected pods of its namespace get when they are created (kubeflow.md 5.2).
#pragma once

#include "api/meta/object.h"
#include "api/resource.h"
#include "api/schema/fields.h"

namespace api {

namespace resources {
inline const ResourceId kPodDefaults{"kubeflow.org", "v1alpha1", "poddefaults"};
}  // namespace resources

struct PodDefaultSpec {
  Json selector;
  std::string description;
  Json env, env_from, volumes, volume_mounts, init_containers, sidecars, tolerations, pull_secrets;
  StringMap labels;
  StringMap annotations;
  std::string service_account_name;
  std::optional<bool> mounts_token;
  std::vector<std::string> command;
  std::vector<std::string> args;

  static constexpr std::string_view kSchemaName = "org.kubeflow.v1alpha1.PodDefaultSpec";
  static constexpr auto fields() {
    using P = PodDefaultSpec;
    return rows(
        field<&P::selector>("selector", {.required = true, .core_type = "meta.v1.LabelSelector"},
                            "The pods that get it; an empty selector: all."),
        field<&P::description>("desc", "For a person who chooses."),
        field<&P::env>("env", {.core_type = "[core.v1.EnvVar]"}, "Variables of every container."),
        field<&P::env_from>("envFrom", {.core_type = "[core.v1.EnvFromSource]"}, "Sources of variables."),
        field<&P::volumes>("volumes", {.core_type = "[core.v1.Volume]"}, "Volumes of the pod."),
        field<&P::volume_mounts>("volumeMounts", {.core_type = "[core.v1.VolumeMount]"}, "Mounts of every container."),
        field<&P::init_containers>("initContainers", {.core_type = "[core.v1.Container]"},
                                   "Containers that run first."),
        field<&P::sidecars>("sidecars", {.core_type = "[core.v1.Container]"}, "Containers beside the pod's own."),
        field<&P::tolerations>("tolerations", {.core_type = "[core.v1.Toleration]"}, "Tolerations of the pod."),
        field<&P::pull_secrets>("imagePullSecrets", {.core_type = "[core.v1.LocalObjectReference]"},
                                "Secrets with which its images are pulled."),
        field<&P::labels>("labels", "Labels of the pod."), field<&P::annotations>("annotations", "Its annotations."),
        field<&P::service_account_name>("serviceAccountName", "The ServiceAccount of the pod."),
        field<&P::mounts_token>("automountServiceAccountToken", "Whether its token is mounted."),
        field<&P::command>("command", "The command of containers that have none."),
        field<&P::args>("args", "The arguments of containers that have none."));
  }
};

struct PodDefault {
  ObjectMeta metadata;
  PodDefaultSpec spec;

  static constexpr std::string_view kSchemaName = "org.kubeflow.v1alpha1.PodDefault";
  static constexpr auto fields() {
    using P = PodDefault;
    return rows(field<&P::metadata>("metadata", {.core_type = "meta.v1.ObjectMeta"}, "Standard metadata."),
                field<&P::spec>("spec", "What pods get."));
  }
};

}  // namespace api
