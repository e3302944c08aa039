// One controller in a world that is made up.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "controllers/framework/world_for_tests.h"

namespace controllers::cluster {

struct Stage {
  explicit Stage(std::unique_ptr<Controller> c) : controller(std::move(c)) { world.use_indexes_of(*controller); }
  std::string turn(const std::string& key) { return world.turn(*controller, key); }
  TestWorld world;
  std::unique_ptr<Controller> controller;
};

}  // namespace controllers::cluster
