// The settings of the controllers of notebooks from the variables of the environment that Kubeflow's controllers read.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "controllers/notebooks/options.h"

namespace volcano_main {

// `variable` gives the value of one, null where it is not set. An error names the variable.
base::Result<controllers::notebooks::Options> notebook_settings(
    const std::function<const char*(const char* name)>& variable);
base::Result<controllers::notebooks::Options> notebook_settings_of_environment();

}  // namespace volcano_main
