// Which plugins exist?
#pragma once

#include <span>

#include "scheduler/framework/config.h"

namespace scheduler {

std::span<const PluginFactory> all_plugins();
// The plugins that the agent scheduler offers.
std::span<const PluginFactory> single_pod_plugins();

}  // namespace scheduler
