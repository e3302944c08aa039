// Finished jobs with a time to live are deleted when it is over (controllers.md 8).
#pragma once

#include <memory>

#include "controllers/framework/controller.h"

namespace controllers::gc {

std::unique_ptr<Controller> make_gc_controller();

}  // namespace controllers::gc
