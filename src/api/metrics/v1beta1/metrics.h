// NodeMetrics and PodMetrics: what a node and the containers of a pod use at the moment. They are never written.
#pragma once

#include "api/meta/owner_reference.h"

namespace api {

struct NodeMetrics {
  static constexpr std::string_view kSchemaName = "io.k8s.metrics.pkg.apis.metrics.v1beta1.NodeMetrics";
  static constexpr auto fields() {
    return rows(field<Json>("metadata", {.core_type = "meta.v1.ObjectMeta"}, "Standard metadata."),
                field<base::Time>("timestamp", {.required = true}, "The end of the time that was looked at."),
                field<Text>("window", {.required = true}, "How long it is, such as 10s."),
                field<ResourceList>("usage", {.required = true}, "Processors in the mean, and the working set."));
  }
};

struct ContainerMetrics {
  static constexpr std::string_view kSchemaName = "io.k8s.metrics.pkg.apis.metrics.v1beta1.ContainerMetrics";
  static constexpr auto fields() {
    return rows(field<Text>("name", {.required = true}, "The container's name."),
                field<ResourceList>("usage", {.required = true}, "Processors in the mean, and the working set."));
  }
};

struct PodMetrics {
  static constexpr std::string_view kSchemaName = "io.k8s.metrics.pkg.apis.metrics.v1beta1.PodMetrics";
  static constexpr auto fields() {
    return rows(field<Json>("metadata", {.core_type = "meta.v1.ObjectMeta"}, "Standard metadata."),
                field<base::Time>("timestamp", {.required = true}, "The end of the time that was looked at."),
                field<Text>("window", {.required = true}, "How long it is, such as 10s."),
                field<List<ContainerMetrics>>("containers", {.required = true}, "The containers that run."));
  }
};

}  // namespace api
