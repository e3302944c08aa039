// The machines under the simulated nodes: what really runs. Agents come and go; this stays.
#pragma once

#include <map>
#include <string>

#include "base/time.h"

namespace sim {

struct Run {
  base::Time started;
  base::Time ends;     // not set: it runs until it is stopped
  int exit_code = 0;   // at `ends`
  base::Time stopped;  // set: it was told to stop, and is gone at that time
  int restarts = 0;
};

struct Machines {
  std::map<std::string, Run> runs;  // by pod uid
};

}  // namespace sim
