// Profiles: a namespace with its accounts, rights and limits for one owner (kubeflow.md 5.1).
#pragma once

#include <memory>

#include "controllers/framework/controller.h"
#include "controllers/notebooks/options.h"

namespace controllers::notebooks {

std::unique_ptr<Controller> make_profile_controller(Options options);

}  // namespace controllers::notebooks
