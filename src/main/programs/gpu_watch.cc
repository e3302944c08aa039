// `volcano gpu-watch LIBRARY`: asks NVIDIA's management library, so that only this process hangs or crashes with it.
#include <iostream>

#include "main/programs/programs.h"
#include "node/devices/nvml.h"

namespace volcano_main {

int run_gpu_watch(const Arguments& arguments) {
  if (arguments.size() == 1) return node::run_gpu_watch(arguments[0]);
  std::cerr << "usage: volcano gpu-watch LIBRARY\n";
  return 2;
}

}  // namespace volcano_main
