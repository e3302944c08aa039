// How the servers of a program end that no load balancer stands in front of: nobody has to hear of it first.
#pragma once

#include <future>
#include <memory>
#include <vector>

#include "base/time.h"

namespace volcano_main {

// For a connection that asks nothing: a request may be on its way.
inline constexpr base::Duration kLastRequestMax = base::milliseconds(200);

// For servers of probes and scrapers.
inline constexpr base::Duration kLastProbesMax = base::seconds(2);

// All of them at once: they take no connections any more, and answer what they were asked, for `time_max` at the most.
// Some of `servers`, pointers, may be null.
template <class Servers>
void end_answering(const Servers& servers, base::Duration time_max) {
  std::vector<std::future<void>> ends;
  for (const auto& server : servers) {
    if (server == nullptr) continue;
    const auto end = std::make_shared<std::promise<void>>();
    ends.push_back(end->get_future());
    server->drain(time_max, [end] { end->set_value(); });
  }
  for (const auto& end : ends) end.wait();
}

}  // namespace volcano_main
