// NodeMetrics and PodMetrics: what a node and the containers of a pod use at the moment. They are never written.
#pragma once

#include "api/meta/object.h"

namespace api {

struct NodeMetrics {
  ObjectMeta metadata;
  base::Time timestamp;
  std::string window;
  ResourceList usage;

  static constexpr std::string_view kSchemaName = "io.k8s.metrics.pkg.apis.metrics.v1beta1.NodeMetrics";
  static constexpr auto fields() {
    using N = NodeMetrics;
    return rows(field<&N::metadata>("metadata", {.core_type = "meta.v1.ObjectMeta"}, "Standard metadata."),
                field<&N::timestamp>("timestamp", {.required = true}, "The end of the time that was looked at."),
                field<&N::window>("window", {.required = true}, "How long it is, such as 10s."),
                field<&N::usage>("usage", {.required = true}, "Processors in the mean, and the working set."));
  }
};

struct ContainerMetrics {
  std::string name;
  ResourceList usage;

  static constexpr std::string_view kSchemaName = "io.k8s.metrics.pkg.apis.metrics.v1beta1.ContainerMetrics";
  static constexpr auto fields() {
    using C = ContainerMetrics;
    return rows(field<&C::name>("name", {.required = true}, "The container's name."),
                field<&C::usage>("usage", {.required = true}, "Processors in the mean, and the working set."));
  }
};

struct PodMetrics {
  ObjectMeta metadata;
  base::Time timestamp;
  std::string window;
  std::vector<ContainerMetrics> containers;

  static constexpr std::string_view kSchemaName = "io.k8s.metrics.pkg.apis.metrics.v1beta1.PodMetrics";
  static constexpr auto fields() {
    using P = PodMetrics;
    return rows(field<&P::metadata>("metadata", {.core_type = "meta.v1.ObjectMeta"}, "Standard metadata."),
                field<&P::timestamp>("timestamp", {.required = true}, "The end of the time that was looked at."),
                field<&P::window>("window", {.required = true}, "How long it is, such as 10s."),
                field<&P::containers>("containers", {.required = true}, "The containers that run."));
  }
};

}  // namespace api
