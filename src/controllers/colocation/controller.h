// The ColocationConfiguration controller: pods carry the memory settings that their namespace has for them
// (controllers.md 14).
#pragma once

#include <memory>

#include "controllers/framework/controller.h"

namespace controllers::colocation {

std::unique_ptr<Controller> make_colocation_controller();

}  // namespace controllers::colocation
