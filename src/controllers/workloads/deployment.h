// Deployments: one ReplicaSet for each template, and the way from one to the next.
#pragma once

#include <cstdint>
#include <memory>

#include "controllers/framework/controller.h"

namespace controllers::workloads {

std::unique_ptr<Controller> make_deployment_controller();

// How many pods more and fewer than asked for there may be during a rolling update.
struct Bounds {
  std::int64_t surge = 0;
  std::int64_t unavailable = 0;

  bool operator==(const Bounds&) const = default;
};
Bounds bounds_of(const api::Json& deployment);

}  // namespace controllers::workloads
