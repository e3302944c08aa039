// The sharding controller: one NodeShard for each configured scheduler (controllers.md 13).
#pragma once

#include <memory>
#include <string>

#include "controllers/framework/controller.h"
#include "controllers/sharding/config.h"

namespace controllers::sharding {

struct Options {
  // The configuration until there is a ConfigMap that can be read.
  Config config = {};
  std::string config_namespace = "volcano-system";
  std::string config_name = "volcano-sharding-configmap";
};

// The configuration that the flags stand for without being given.
Config default_config();

std::unique_ptr<Controller> make_sharding_controller(Options options);

}  // namespace controllers::sharding
