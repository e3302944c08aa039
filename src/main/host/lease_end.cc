// The last turns of a loop.
#include "main/host/lease_end.h"

#include <cstdlib>
#include <future>
#include <iostream>

#include "rt/reset_at_close.h"

namespace volcano_main {

void end_under_lease(rt::RealEnv& env, const std::unique_ptr<client::LeaderElection>& election,
                     const std::function<void()>& let_go) {
  std::promise<void> stopped;
  env.loop().post([&] {
    const auto finish = [&] {
      let_go();
      stopped.set_value();
    };
    if (election && election->is_leader())
      election->release(finish);
    else
      finish();
  });
  // A server that does not answer may be away: the lease runs out, and what was sent must not come after that.
  if (stopped.get_future().wait_for(std::chrono::seconds(2)) != std::future_status::ready)
    rt::reset_connections_at_close();
  env.stop();
}

void end_without_lease() {
  std::cerr << "leaderelection lost\n";
  rt::reset_connections_at_close();
  std::_Exit(1);
}

}  // namespace volcano_main
