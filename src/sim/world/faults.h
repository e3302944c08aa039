// How unreliable the network between the components and the API server is; all chances are 0 in a healed world.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "api/meta/resource.h"
#include "base/result.h"
#include "base/time.h"

namespace sim {

// A request in the words of the rules that may refuse it.
struct Asked {
  std::string_view user;  // "vc-scheduler"
  std::string_view verb;  // "patch", "watch"
  const api::ResourceId& resource;
  std::string_view subresource;  // empty: of the object itself
  std::string_view name;         // empty: of a list, a watch, or a creation
};
// Why the server does not do it; unset: it does.
using Refuse = std::function<std::optional<base::Error>(const Asked& asked)>;

struct NetworkFaults {
  double drop_request = 0;  // of a request: it never arrives
  double drop_answer = 0;   // of a request: it is carried out, and nobody hears of it
  double conflict = 0;      // of a write: answered with Conflict, as if somebody had been faster
  double cut_watch = 0;     // of an event: it and the rest of the watch are lost
  double slow = 0;          // of a message: it takes up to `slow_max`
  base::Duration slow_max = base::seconds(5);
  std::vector<Refuse> refuse;  // asked one after the other as a request arrives
};

// One way, uniform between the two.
struct Latency {
  base::Duration min = base::microseconds(100);
  base::Duration max = base::milliseconds(3);
};

}  // namespace sim
