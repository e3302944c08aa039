// How unreliable the network between the components and the API server is; all chances are 0 in a healed world.
#pragma once

#include "base/time.h"

namespace sim {

struct NetworkFaults {
  double drop_request = 0;  // of a request: it never arrives
  double drop_answer = 0;   // of a request: it is carried out, and nobody hears of it
  double conflict = 0;      // of a write: answered with Conflict, as if somebody had been faster
  double cut_watch = 0;     // of an event: it and the rest of the watch are lost
  double slow = 0;          // of a message: it takes up to `slow_max`
  base::Duration slow_max = base::seconds(5);
};

// One way, uniform between the two.
struct Latency {
  base::Duration min = base::microseconds(100);
  base::Duration max = base::milliseconds(3);
};

}  // namespace sim
