// The JobTemplate controller: a template's status lists the Jobs that were made from it (controllers.md 11).
#pragma once

#include <memory>

#include "controllers/framework/controller.h"

namespace controllers::jobtemplate {

std::unique_ptr<Controller> make_jobtemplate_controller();

}  // namespace controllers::jobtemplate
