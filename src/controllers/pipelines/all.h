// The list of these controllers.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "controllers/framework/controller.h"
#include "controllers/pipelines/options.h"

namespace controllers::pipelines {

std::vector<std::string> controller_names();
// By the name of the controller, which is one of those.
std::unique_ptr<Controller> make_controller(const std::string& name, const Options& options);

}  // namespace controllers::pipelines
