// The controllers of a program as values, for the manager and for tests of what they write.
#pragma once

#include <memory>
#include <vector>

#include "controllers/all.h"
#include "controllers/framework/controller.h"

namespace controllers {

std::vector<std::unique_ptr<Controller>> make_controllers(Options options);

}  // namespace controllers
