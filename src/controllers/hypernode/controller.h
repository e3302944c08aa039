// Finds out how the network hangs together and keeps HyperNodes that say so (controllers.md 12).
#pragma once

#include <memory>
#include <string>

#include "controllers/framework/controller.h"

namespace controllers::hypernode {

struct Options {
  // The ConfigMap with the key volcano-controller.conf.
  std::string configmap_namespace = "volcano-system";
  std::string configmap_name = "volcano-controller-configmap";
};

std::unique_ptr<Controller> make_hypernode_controller(Options options);

}  // namespace controllers::hypernode
