// The last turns of a loop.
#include "main/host/lease_end.h"

#include <future>

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
  stopped.get_future().wait_for(std::chrono::seconds(2));
  env.stop();
}

}  // namespace volcano_main
