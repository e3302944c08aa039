// `volcano monitor FOLDER`: stands beside one plain process of a pod; the node agent starts it.
#include <cstdio>

#include "main/programs.h"
#include "node/agent.h"

namespace volcano_main {

int run_monitor(const Arguments& arguments) {
  if (arguments.size() != 1) {
    std::fprintf(stderr, "usage: volcano monitor FOLDER\n\nThe node agent runs this beside each plain process of a pod.\n");
    return 2;
  }
  return node::run_process_monitor(arguments[0]);
}

}  // namespace volcano_main
