// `volcano monitor FOLDER`: what stands between the node agent and one plain process.
#include <iostream>

#include "main/programs/programs.h"
#include "node/machine/machine.h"

namespace volcano_main {

int run_monitor(const Arguments& arguments) {
  if (arguments.size() == 1) return node::run_process_monitor(arguments[0]);
  std::cerr << "usage: volcano monitor FOLDER\n";
  return 2;
}

}  // namespace volcano_main
