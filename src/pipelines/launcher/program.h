// The bytes of the launcher, the program that runs a step's command (launch.c).
#pragma once

#include <string_view>

namespace pipelines {

std::string_view launcher_program();

}  // namespace pipelines
