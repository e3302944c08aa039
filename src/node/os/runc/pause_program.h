// The program that keeps the process namespace of a pod (src/node/pause), as bytes.
#pragma once

#include <string_view>

namespace node {

// A static executable for this machine. Lives as long as the program.
std::string_view pause_program();

}  // namespace node
