// scheduler_bench: generates the loads of the product's goals from a seed and measures the scheduler on them.
//
//   scheduler_bench schedule ...        is `volcano schedule ...`
#include <cstring>
#include <iostream>

#include "main/programs.h"

int main(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  if (!arguments.empty() && arguments[0] == "schedule") {
    arguments.erase(arguments.begin());
    return volcano_main::run_schedule(arguments);
  }
  std::cerr << "usage: scheduler_bench schedule ...\n";
  return 2;
}
