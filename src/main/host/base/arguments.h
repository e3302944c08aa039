// The words after a program's name.
#pragma once

#include <string>
#include <vector>

namespace volcano_main {

using Arguments = std::vector<std::string>;  // without the program's own name

}  // namespace volcano_main
