// Which actions exist?
#pragma once

#include <span>

#include "scheduler/framework/config.h"

namespace scheduler {

std::span<const ActionFactory> all_actions();

}  // namespace scheduler
