// The plugin that docs/extending.md writes from nothing.
#pragma once

#include <memory>

#include "scheduler/framework/plugin.h"

namespace extending {

std::unique_ptr<scheduler::Plugin> make_node_price();

}  // namespace extending
