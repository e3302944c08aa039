// An API server for a program that waits for each answer.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "cli/world.h"

namespace volcano_main {

// The server that --kubeconfig, --master, the environment or the usual files name (main/host/base/connection.h).
base::Result<std::unique_ptr<cli::Api>> open_waiting_api(const std::string& kubeconfig, const std::string& master);

}  // namespace volcano_main
